//! The pages of the sections, with something on each.

use headwater_integration::{Chromium, Look, Node, Receiver, Reply};
use serde_json::{Value, json};

use super::{Page, every_look, look_at};
use crate::{
    ui::things::Things,
    workflows::{Folder, HTTP, until, waiting},
};

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

/// Uses a data store by two of its props.
const USES: &str = "export default { name: 'Uses', version: '0.0.1', props: { http: '$.interface.http', \
    seen: { type: 'data_store' }, kept: { type: 'data_store', default: 'cache' } }, run() {} }";

/// Emits, logs and fails, whatever it is run with.
const TRIED: &str = "export default { name: 'Tried', version: '0.0.1', props: { shop: { type: 'string', optional: true } }, \
    run() { console.log('a line of the log'); console.error('another one'); \
      this.$emit({ order: 7, lines: [{ sku: 'A' }, { sku: 'B' }] }, { id: 7, summary: 'Order 7' }); \
      this.$emit({ note: 'long '.repeat(60) }, { name: 'a channel', summary: 'مرحبا بالعالم' }); \
      throw new Error('the API did not answer'); } }";

const NARROW: Look = Look {
    width: 360,
    is_dark: false,
};

const ASKS: &str = "console.log('asks whether to go on'); $.export('orders', [{ id: 7, total: 12.5 }]); \
    if (steps.trigger.event.wait) $.flow.suspend(); return { asked: true };";
const SENDS: &str = "if (steps.trigger.event.fails) throw new Error('the shop did not answer'); \
    await new Promise((done) => setTimeout(done, 20)); return 'sent';";

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

fn below(base: &str, pages: &[(&'static str, &str)]) -> Vec<Page> {
    let pages = pages.iter();
    pages
        .map(|(name, rest)| (*name, format!("{base}{rest}")))
        .collect()
}

async fn node() -> Node {
    Node::builder().private_network().start().await
}

#[tokio::test]
async fn sources_are_for_everybody_in_every_look() {
    let node = node().await;
    let source = node.deploy(STORY, json!({})).await;
    let run = node.run(&source, json!({})).await;
    node.run(&source, json!({"fails": true})).await;
    let event = node.events(&source).await.remove(0);
    let version = source.record["deployment_id"].as_str().unwrap();
    let version = format!("/versions/{version}");
    let changed = STORY
        .replace("0.0.1", "0.0.2")
        .replace("Order 7", "Number 7");
    let changed = json!({"component_code": changed});
    node.patch(&source.path(), changed).await.is(200);
    let mut pages = below(
        &format!("/sources/{}", source.id),
        &[
            ("source-versions", "/versions"),
            ("source-version", &version),
            ("source-roll-back", &format!("{version}/roll_back")),
            ("event-delete", &format!("/events/{}/delete", id(&event))),
            (
                "event-compare",
                &format!("/events/{0}/compare?with={0}", id(&event)),
            ),
            ("source", ""),
            ("source-logs", "/logs"),
            ("source-runs", "/runs"),
            ("source-errors", "/errors"),
            ("source-config", "/config"),
            ("source-subscriptions", "/subscriptions"),
            ("source-run", "/run"),
            ("source-delete", "/delete"),
            ("event", &format!("/events/{}", id(&event))),
            ("event-send", &format!("/events/{}/send", id(&event))),
            ("event-fixture", &format!("/events/{}/fixture", id(&event))),
        ],
    );
    let run = format!("/runs/{}", run["invocation_id"].as_str().unwrap());
    pages.push(("run-again", format!("{run}/again")));
    pages.push(("run", run));
    pages.push(("sources", "/sources".to_owned()));
    let chosen = format!("/sources/selected?act=delete&id={}", source.id);
    pages.push(("sources-selected", chosen));
    look_at(&node, &pages).await;
}

#[tokio::test]
async fn the_first_pages_are_for_everybody_in_every_look() {
    let empty = node().await;
    let pages = below(
        "",
        &[
            ("home-of-a-new-node", "/"),
            ("sources-none", "/sources"),
            ("events-none", "/events"),
            ("webhooks-none", "/webhooks"),
            ("deliveries-none", "/deliveries"),
            ("workflows-none", "/workflows"),
            ("data-none", "/data"),
        ],
    );
    look_at(&empty, &pages).await;
}

#[tokio::test]
async fn overviews_are_for_everybody_in_every_look() {
    let things = Things::new().await;
    let source = things.node.deploy(STORY, json!({})).await;
    things.node.run(&source, json!({})).await;
    things.node.run(&source, json!({"fails": true})).await;
    let event = things.node.events(&source).await.remove(0);
    let events_selected = format!(
        "/events/selected?act=replay&id={}@{}",
        id(&event),
        source.id
    );
    let pages = below(
        "",
        &[
            ("home", "/"),
            ("runs", "/runs"),
            ("runs-all", "/runs?status=any&q=&since=2026-01-31T12:00"),
            ("events", "/events"),
            ("events-found", "/events?q=order&path=order%3D7"),
            ("events-selected", &events_selected),
            ("search", "/search?q=o"),
            ("search-none", "/search?q=nothing-of-this-name"),
            (
                "runs-of-a-trace",
                "/runs?status=any&origin=0af7651916cd43dd8448eb211c80319c",
            ),
            ("not-found", "/sources/dc_0000000000000000000000"),
            ("no-page", "/nothing"),
        ],
    );
    look_at(&things.node, &pages).await;
}

#[tokio::test]
async fn deploying_is_for_everybody_in_every_look() {
    let node = node().await;
    let source = node.deploy(STORY, json!({})).await;
    let component = node.save(PROPS).await;
    node.account("shop", json!({"api_key": "k"})).await;
    let source = format!("/sources/{}", source.id);
    let pages = [
        ("deploy", "/deploy".to_owned()),
        ("deploy-form", format!("/deploy/{}", id(&component))),
        ("deploy-code", "/deploy/code?template=rss".to_owned()),
        ("source-edit", format!("{source}/edit")),
        ("source-code", format!("{source}/code")),
    ];
    look_at(&node, &pages).await;
}

/// The result of a trial comes into the page that it was tried from.
#[tokio::test]
async fn trials_are_for_everybody_in_every_look() {
    let node = node().await;
    let component = node.save(TRIED).await;
    let source = node.deploy(TRIED, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let mut faults = Vec::new();
    for (name, path) in [
        ("deploy-tried", format!("/deploy/{}", id(&component))),
        ("source-code-tried", format!("/sources/{}/code", source.id)),
    ] {
        tab.look(NARROW).await;
        tab.open(&path).await;
        tab.press("button[value=try]").await;
        tab.sees_text("#trial", "It emitted 2 events").await;
        faults.extend(every_look(&tab, name).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What the author gets wrong is shown with its lines, above the editor.
#[tokio::test]
async fn a_syntax_error_is_for_everybody_in_every_look() {
    let node = node().await;
    let source = node.deploy(STORY, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let mut faults = Vec::new();
    for (name, path) in [
        ("deploy-code-wrong", "/deploy/code?template=rss".to_owned()),
        ("source-code-wrong", format!("/sources/{}/code", source.id)),
    ] {
        tab.look(NARROW).await;
        tab.open(&path).await;
        tab.sees(".editor").await;
        tab.press("label[for=code]").await;
        tab.type_keys("export default { name: 'Wrong', run( { ")
            .await;
        tab.press("main form button.primary").await;
        tab.sees_text(".summary-of-errors", "column").await;
        tab.sees(".editor").await;
        faults.extend(every_look(&tab, name).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn webhooks_are_for_everybody_in_every_look() {
    let node = node().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| {
        let body = json!({"error": "the books are closed"});
        Reply::json(&body).with_status(500)
    });
    let source = node.deploy(STORY, json!({})).await;
    let webhook = json!({"url": format!("{}/hook", receiver.url()), "name": "Shop"});
    let webhook = node.post("/webhooks", webhook).await.is(200).data();
    node.subscribe(source.id.as_str(), id(&webhook), "").await;
    node.run(&source, json!({})).await;
    let tried = |all: &[Value]| all.iter().any(|one| one["attempts"][0]["status"] == 500);
    let delivery = node.deliveries_until(id(&webhook), tried).await.remove(0);
    let mut pages = below(
        &format!("/webhooks/{}", id(&webhook)),
        &[
            ("webhook", ""),
            ("webhook-edit", "/edit"),
            ("webhook-replay", "/replay"),
            ("webhook-secret", "/secret"),
            ("webhook-test", "/test"),
            ("webhook-delete", "/delete"),
        ],
    );
    pages.extend(below(
        "",
        &[
            ("webhooks", "/webhooks"),
            ("webhook-new", "/webhooks/new"),
            ("deliveries", "/deliveries"),
            ("deliveries-retry", "/deliveries/retry"),
            ("deliveries-discard", "/deliveries/discard"),
            ("delivery", &format!("/deliveries/{}", id(&delivery))),
            ("deliveries-all-selected", "/deliveries?selected=all"),
            (
                "deliveries-selected",
                &format!("/deliveries/selected?act=discard&id={}", id(&delivery)),
            ),
        ],
    ));
    look_at(&node, &pages).await;
}

#[tokio::test]
async fn workflows_are_for_everybody_in_every_look() {
    let node = node().await;
    let folder = Folder::new(HTTP, &[("ask_the_shop", ASKS), ("send_the_order", SENDS)]);
    let workflow = folder.deployed(&node).await;
    let done = workflow.start(&node, json!({"order": 7})).await;
    until(&node, &done, "succeeded").await;
    let failed = workflow.start(&node, json!({"fails": true})).await;
    until(&node, &failed, "failed").await;
    let waits = workflow.start(&node, json!({"wait": true})).await;
    waiting(&node, &waits).await;
    let mut pages = below(
        &workflow.path(),
        &[
            ("workflow", ""),
            ("workflow-steps", "/steps"),
            ("workflow-events", "/events"),
            ("workflow-errors", "/errors"),
            ("workflow-settings", "/settings"),
            ("workflow-start", "/run"),
            ("workflow-delete", "/delete"),
            ("workflow-run", &done),
            ("workflow-run-failed", &failed),
            ("workflow-run-waiting", &waits),
            ("workflow-run-value", &format!("{done}/value?of=event")),
            ("workflow-run-replay", &format!("{failed}/replay")),
            ("workflow-run-cancel", &format!("{waits}/cancel")),
        ],
    );
    pages.push(("workflows", "/workflows".to_owned()));
    let chosen = done.rsplit('/').next().unwrap();
    let chosen = format!("/runs/selected?act=replay&id={chosen}");
    pages.push(("runs-selected", chosen));
    look_at(&node, &pages).await;
}

#[tokio::test]
async fn accounts_and_data_are_for_everybody_in_every_look() {
    let things = Things::new().await;
    let value =
        json!({"value": {"name": "مرحبا", "orders": [1, 2, 3], "note": "long ".repeat(60)}});
    let path = "/data_stores/cache/record?key=customers%2F7%2Fa-rather-long-key";
    things.node.put(path, value).await.is(200);
    for name in [
        "Orders of the shop",
        "A source with a rather long name that somebody gave it",
    ] {
        let uses =
            json!({"component_code": USES, "name": name, "configured_props": {"seen": "cache"}});
        things.node.post("/sources", uses).await.is(200);
    }
    for (app, name) in [
        ("shop", "Books"),
        ("a-rather-long-name-of-an-app", "مرحبا بالعالم"),
    ] {
        let account = json!({"app": app, "name": name, "fields": {"api_key": "k"}});
        things.node.post("/accounts", account).await.is(200);
    }
    let mut pages = below(
        "",
        &[
            ("accounts", "/accounts"),
            ("account-new", "/accounts/new"),
            ("account-of-keys", "/accounts/new?app=postgresql"),
            ("account-unregistered", "/accounts/new?app=slack"),
            ("data", "/data"),
            ("data-store", "/data/cache"),
            (
                "data-record",
                "/data/cache/record?key=customers%2F7%2Fa-rather-long-key",
            ),
            ("data-record-new", "/data/cache/record"),
            ("data-record-delete", "/data/cache/record/delete?key=k"),
            ("data-store-none-found", "/data/cache?prefix=nothing"),
            ("data-store-delete", "/data/cache/delete"),
        ],
    );
    for (name, route) in [
        ("account", "/accounts/{id}"),
        ("account-rename", "/accounts/{id}/rename"),
        ("account-delete", "/accounts/{id}/delete"),
        ("account-waits", "/accounts/connects/{id}"),
    ] {
        pages.push((name, things.address(route)));
    }
    look_at(&things.node, &pages).await;
}

#[tokio::test]
async fn settings_are_for_everybody_in_every_look() {
    let things = Things::new().await;
    let mut pages = below(
        "/settings",
        &[
            ("settings", ""),
            ("settings-keys", "/keys"),
            ("settings-sessions", "/sessions"),
            ("settings-members", "/members"),
            ("settings-variables", "/variables"),
            ("settings-usage", "/usage"),
            ("settings-audit", "/audit"),
            ("settings-users", "/users"),
            ("settings-node", "/node"),
        ],
    );
    pages.extend([
        ("guide", "/guide".to_owned()),
        ("guide-found", "/guide?q=signature".to_owned()),
        ("guide-chapter", "/guide/webhooks".to_owned()),
    ]);
    for (name, route) in [
        ("settings-key-revoke", "/settings/keys/{id}/revoke"),
        ("settings-member-remove", "/settings/members/{id}/remove"),
        ("settings-user-delete", "/settings/users/{id}/delete"),
        ("settings-variable-delete", "/settings/variables/delete"),
    ] {
        pages.push((name, things.address(route)));
    }
    look_at(&things.node, &pages).await;
}
