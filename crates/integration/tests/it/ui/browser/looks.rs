//! Every page in both themes and three widths: for everybody to use, nothing cut off, and nothing against its policy. The
//! pictures are left in the target folder, for eyes.

use std::path::PathBuf;

use headwater_integration::{Chromium, Look, Node, Tab};
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

/// The pages of a node on which something happened, by the names of their pictures.
async fn pages(node: &Node) -> Vec<(&'static str, String)> {
    let source = node.deploy(STORY, json!({})).await;
    let longer = STORY
        .replace("0.0.1", "0.0.2")
        .replace("Order 7", "Order number 7");
    let changed = json!({ "component_code": longer, "configured_props": { "timer": { "intervalSeconds": 60 } } });
    node.put(&source.path(), changed).await.is(200);
    let version = source.record["deployment_id"].as_str().unwrap().to_owned();
    let run = node.run(&source, json!({})).await;
    node.run(&source, json!({"fails": true})).await;
    let event = node.events(&source).await.remove(0);
    let url = json!({"url": "http://127.0.0.1:9/hook", "name": "Shop"});
    let webhook = node.post("/webhooks", url).await.is(200).data();
    let component = json!({ "component_code": PROPS });
    let component = node.post("/components", component).await.is(200).data();
    let account = json!({"app": "shop", "name": "Work", "fields": {"api_key": "k"}});
    let account = node.post("/accounts", account).await.is(200).data();
    let account = format!("/accounts/{}", account["id"].as_str().unwrap());
    let source = format!("/sources/{}", source.id);
    let webhook = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let of_source = [
        ("source", ""),
        ("source-logs", "/logs"),
        ("source-runs", "/runs"),
        ("source-errors", "/errors"),
        ("source-config", "/config"),
        ("source-subscriptions", "/subscriptions"),
        ("source-versions", "/versions"),
        ("source-run", "/run"),
        ("source-edit", "/edit"),
        ("source-code", "/code"),
        ("source-delete", "/delete"),
    ];
    let of_webhook = [
        ("webhook", ""),
        ("webhook-replay", "/replay"),
        ("webhook-secret", "/secret"),
    ];
    let others = [
        ("home", "/"),
        ("sources", "/sources"),
        ("webhooks", "/webhooks"),
        ("webhook-new", "/webhooks/new"),
        ("deliveries", "/deliveries"),
        ("runs", "/runs"),
        ("runs-all", "/runs?status=any&q=&since=2026-01-31T12:00"),
        ("deploy", "/deploy"),
        ("deploy-code", "/deploy/code?template=rss"),
        ("accounts", "/accounts"),
        ("account-new", "/accounts/new"),
        ("account-of-keys", "/accounts/new?app=postgresql"),
        ("account-unregistered", "/accounts/new?app=slack"),
        ("workflows", "/workflows"),
        ("data", "/data"),
        ("settings", "/settings"),
        ("not-found", "/sources/dc_0000000000000000000000"),
    ];
    let event = format!("{source}/events/{}", event["id"].as_str().unwrap());
    let run = format!("/runs/{}", run["invocation_id"].as_str().unwrap());
    let form = format!("/deploy/{}", component["id"].as_str().unwrap());
    let version = format!("{source}/versions/{version}");
    let mut pages = vec![("event", event), ("run", run), ("deploy-form", form)];
    pages.push(("source-roll-back", format!("{version}/roll_back")));
    pages.push(("source-version", version));
    pages.push(("account-delete", format!("{account}/delete")));
    pages.push(("account", account));
    pages.extend(of_source.map(|(name, path)| (name, format!("{source}{path}"))));
    pages.extend(of_webhook.map(|(name, path)| (name, format!("{webhook}{path}"))));
    pages.extend(others.map(|(name, path)| (name, path.to_owned())));
    pages
}

#[tokio::test]
async fn every_page_is_for_everybody_in_every_look() {
    let node = Node::builder().private_network().start().await;
    let pages = pages(&node).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let mut faults = Vec::new();
    for width in WIDTHS {
        for is_dark in [false, true] {
            tab.look(Look { width, is_dark }).await;
            for (name, path) in &pages {
                tab.open(path).await;
                let theme = if is_dark { "dark" } else { "light" };
                let found = faults_of(&tab, width).await;
                faults.extend(
                    found
                        .into_iter()
                        .map(|fault| format!("{name}, {width} px, {theme}: {fault}")),
                );
                let file = pictures().join(format!("{name}-{width}-{theme}.png"));
                std::fs::write(file, tab.picture().await).unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Everything that is wrong with the page that is shown.
async fn faults_of(tab: &Tab<'_>, width: u32) -> Vec<String> {
    let mut faults = tab.barriers().await;
    faults.extend(tab.problems().await);
    let across = tab.evaluate("document.documentElement.scrollWidth").await;
    if across.as_u64().unwrap() > u64::from(width) {
        faults.push(format!("scrolls sideways, {across} px"));
    }
    faults
}
