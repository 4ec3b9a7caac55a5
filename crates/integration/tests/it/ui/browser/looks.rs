//! Every page in both themes and three widths: for everybody to use, nothing cut off, and nothing against its policy. The
//! pictures are left in the target folder, for eyes.

use std::path::PathBuf;

use headwater_integration::{Chromium, Look, Node};
use serde_json::json;

const WIDTHS: [u32; 3] = [360, 768, 1440];

const STORY: &str = "export default { name: 'A source with a rather long name that somebody gave it', version: '0.0.1', \
    props: { http: '$.interface.http', timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } } }, \
    run(event) { console.log('a line of the log'); console.error('another one'); \
      if (event.fails) throw new Error('the API did not answer'); \
      this.$emit({ order: 7, lines: [{ sku: 'A' }, { sku: 'B' }] }, { id: 7, summary: 'Order 7' }); \
      this.$emit({ empty: null }, { name: 'a channel', summary: 'مرحبا بالعالم' }); } }";

/// A component with every kind of field.
const PROPS: &str = "export default { name: 'Every kind of prop', version: '0.0.1', description: '**Marks** and `code`.', \
    props: { note: { type: 'alert', alertType: 'warning', content: 'Read this.' }, \
      url: { type: 'string', label: 'Feed', description: 'An address.' }, key: { type: 'string', secret: true }, \
      count: { type: 'integer', min: 1, max: 9, default: 3 }, fast: { type: 'boolean', optional: true }, \
      tags: { type: 'string[]', optional: true }, body: { type: 'object', optional: true }, \
      level: { type: 'string', options: ['low', { label: 'High', value: 'high' }], reloadProps: true }, \
      kinds: { type: 'string[]', options: ['a', 'b'], optional: true }, \
      board: { type: 'string', useQuery: true, options: () => ['x'] }, shop: { type: 'app', app: 'shop' }, \
      seen: { type: 'data_store', optional: true }, request: { type: 'http_request', optional: true }, \
      dir: { type: 'dir' }, timer: '$.interface.timer', http: '$.interface.http' }, \
    additionalProps: () => ({}), run() {} }";

fn pictures() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let folder = target.unwrap_or(root).join("pictures");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn every_page_is_for_everybody_in_every_look() {
    let node = Node::builder().private_network().start().await;
    let source = node.deploy(STORY, json!({})).await;
    let run = node.run(&source, json!({})).await;
    node.run(&source, json!({"fails": true})).await;
    let webhook = node
        .post(
            "/webhooks",
            json!({"url": "http://127.0.0.1:9/hook", "name": "Shop"}),
        )
        .await
        .is(200)
        .data();
    let component = node
        .post("/components", json!({ "component_code": PROPS }))
        .await
        .is(200)
        .data()["id"]
        .clone();
    let account = json!({"app": "shop", "name": "Work", "fields": {"api_key": "k"}});
    let account = node.post("/accounts", account).await.is(200).data();
    let account = format!("/accounts/{}", account["id"].as_str().unwrap());
    let source = format!("/sources/{}", source.id);
    let webhook = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let run = format!("/runs/{}", run["invocation_id"].as_str().unwrap());
    let pages = [
        ("home", "/".to_owned()),
        ("sources", "/sources".to_owned()),
        ("source", source.clone()),
        ("source-logs", format!("{source}/logs")),
        ("source-runs", format!("{source}/runs")),
        ("source-errors", format!("{source}/errors")),
        ("source-config", format!("{source}/config")),
        ("source-subscriptions", format!("{source}/subscriptions")),
        ("source-run", format!("{source}/run")),
        ("source-delete", format!("{source}/delete")),
        ("run", run),
        ("webhooks", "/webhooks".to_owned()),
        ("webhook-new", "/webhooks/new".to_owned()),
        ("webhook", webhook.clone()),
        ("webhook-replay", format!("{webhook}/replay")),
        ("source-edit", format!("{source}/edit")),
        ("source-code", format!("{source}/code")),
        ("deploy", "/deploy".to_owned()),
        (
            "deploy-form",
            format!("/deploy/{}", component.as_str().unwrap()),
        ),
        ("deploy-code", "/deploy/code?template=rss".to_owned()),
        (
            "deploy-npm",
            "/deploy/npm:@pipedream/rss/sources/a/a.mjs".to_owned(),
        ),
        ("accounts", "/accounts".to_owned()),
        ("account", account.clone()),
        ("account-delete", format!("{account}/delete")),
        ("account-new", "/accounts/new".to_owned()),
        ("account-of-keys", "/accounts/new?app=postgresql".to_owned()),
        ("account-unregistered", "/accounts/new?app=slack".to_owned()),
        ("not-found", "/sources/dc_0000000000000000000000".to_owned()),
    ];
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let folder = pictures();
    let mut faults = Vec::new();
    for width in WIDTHS {
        for is_dark in [false, true] {
            tab.look(Look { width, is_dark }).await;
            for (name, path) in &pages {
                tab.open(path).await;
                let place = format!(
                    "{name} at {width} px{}",
                    if is_dark { ", dark" } else { "" }
                );
                let across = tab.evaluate("document.documentElement.scrollWidth").await;
                if across.as_u64().unwrap() > u64::from(width) {
                    faults.push(format!("{place}: scrolls sideways, {across} px"));
                }
                faults.extend(
                    tab.barriers()
                        .await
                        .into_iter()
                        .map(|fault| format!("{place}: {fault}")),
                );
                faults.extend(
                    tab.problems()
                        .await
                        .into_iter()
                        .map(|fault| format!("{place}: {fault}")),
                );
                let theme = if is_dark { "dark" } else { "light" };
                let file = folder.join(format!("{name}-{width}-{theme}.png"));
                std::fs::write(file, tab.picture().await).unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
