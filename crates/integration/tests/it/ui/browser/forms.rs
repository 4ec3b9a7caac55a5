//! Forms of props with script: options that load by themselves, a session that ends meanwhile, and trials.

use headwater_integration::{Chromium, Node, Tab};
use serde_json::json;

const BOARDS: &str = "export default { name: 'Boards', version: '0.0.1', \
    props: { shop: { type: 'app', app: 'shop' }, \
      board: { type: 'string', options() { return [`board of ${this.shop.$auth.api_key}`]; } } }, \
    run() { this.$emit(this.board); } }";

const SECRET: &str = "export default { name: 'Secret', version: '0.0.1', \
    props: { url: 'string', key: { type: 'string', secret: true }, \
      board: { type: 'string', options: ['b1'], optional: true }, far: { type: 'string', optional: true, options: () => ['f1'] } }, \
    run() { console.log('a line'); this.$emit({ url: this.url, of: this.key.length }); } }";

async fn form(node: &Node, code: &str) -> String {
    let component = node.save(code).await;
    format!("/deploy/{}", component["id"].as_str().unwrap())
}

async fn value_of(tab: &Tab<'_>, name: &str) -> serde_json::Value {
    let field = format!("document.querySelector(\"[name='{name}']\").value");
    tab.evaluate(&field).await
}

#[tokio::test]
async fn options_load_by_themselves_as_soon_as_their_account_is_chosen() {
    let node = Node::start().await;
    // One account alone would be chosen already.
    node.account("shop", json!({"api_key": "mine"})).await;
    node.account("shop", json!({"api_key": "mine"})).await;
    let form = form(&node, BOARDS).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open("/deploy").await;
    tab.evaluate(&format!("void location.assign('{form}')"))
        .await;
    tab.sees("[data-field=shop]").await;
    assert_eq!(
        tab.count("[data-field=board] option[value]:not([value=''])")
            .await,
        0
    );
    tab.press("[data-field=shop] input[type=radio]:not([value=''])")
        .await;
    tab.sees_text("[data-field=board]", "board of mine").await;
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failed_deployment_is_told_while_options_load() {
    const FAILS: &str = "export default { name: 'Fails', version: '0.0.1', \
        props: { shop: { type: 'app', app: 'shop' }, \
          board: { type: 'string', optional: true, options() { return [`board of ${this.shop.$auth.api_key}`]; } } }, \
        hooks: { deploy() { throw new Error('no luck'); } }, run() {} }";
    let node = Node::start().await;
    node.account("shop", json!({"api_key": "mine"})).await;
    let form = form(&node, FAILS).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.press("button.primary[value=deploy]").await;
    tab.sees_text(".summary-of-errors", "no luck").await;
    tab.sees_text("[data-field=board]", "board of mine").await;
    tab.sees_text(".summary-of-errors", "no luck").await;
    assert_eq!(tab.count(".summary-of-errors").await, 1);
}

#[tokio::test]
async fn an_interval_that_is_entered_is_chosen() {
    const TICKS: &str = "export default { name: 'Ticks', version: '0.0.1', \
        props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } } }, run() {} }";
    let node = Node::start().await;
    let form = form(&node, TICKS).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.sees_text("[data-field=timer] .ticks", "every 15 minutes")
        .await;
    tab.write("[data-field=timer] input[aria-label=Number]", "7")
        .await;
    let chosen = tab
        .evaluate("document.querySelector('[data-field=timer] input[type=radio]:checked').value")
        .await;
    assert_eq!(chosen, "interval");
    assert_eq!(tab.count("[data-field=timer] .ticks").await, 0);
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_session_that_ended_leaves_what_was_entered() {
    let node = Node::start().await;
    let form = form(&node, SECRET).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.write("[name='prop.url']", "typed").await;
    tab.write("[name='prop.key']", "s3cret").await;
    let sessions = node.get("/sessions").await.is(200).items();
    for session in &sessions {
        let path = format!("/sessions/{}", session["id"].as_str().unwrap());
        node.delete(&path).await.is(204);
    }
    tab.press("button[value='load:far']").await;
    tab.sees_text(".summary-of-errors", "You are signed out")
        .await;
    tab.sees_text(".summary-of-errors a", "Sign in in another tab")
        .await;
    assert_eq!(value_of(&tab, "prop.url").await, "typed");
    assert_eq!(value_of(&tab, "prop.key").await, "s3cret");
    // The form itself says so on a page.
    tab.press("button.primary[value=deploy]").await;
    tab.sees_text("h1", "You were signed out meanwhile").await;
}

#[tokio::test]
async fn a_trial_is_shown_above_the_form_that_stays_as_it_is() {
    let node = Node::start().await;
    let form = form(&node, SECRET).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.write("[name='prop.url']", "typed").await;
    tab.write("[name='prop.key']", "s3cret").await;
    tab.press("button[value=try]").await;
    tab.sees_text("#trial", "It emitted 1 event").await;
    tab.sees_text("#trial", "a line").await;
    assert_eq!(value_of(&tab, "prop.key").await, "s3cret");
    assert_eq!(tab.evaluate("document.activeElement.id").await, "trial");
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    tab.press("button[value=try]").await;
    tab.sees_text("#trial", "It emitted 1 event").await;
    assert_eq!(tab.count("#trial").await, 1);
    // The editor does the same, by its button.
    tab.open("/deploy/code?template=timer").await;
    tab.sees(".editor").await;
    tab.press("button[value=try]").await;
    tab.sees_text("#trial", "Tried, not deployed").await;
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    assert_eq!(tab.problems().await, Vec::<String>::new());
    let sources = node.get("/users/me/sources").await.is(200).items();
    assert!(sources.is_empty(), "{sources:?}");
}

#[tokio::test]
async fn a_trial_needs_no_script() {
    let node = Node::start().await;
    let form = form(&node, SECRET).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.run_no_script().await;
    tab.open(&form).await;
    tab.write("[name='prop.url']", "typed").await;
    tab.write("[name='prop.key']", "s3cret").await;
    tab.press("button[value=try]").await;
    tab.sees_text("#trial", "It emitted 1 event").await;
    tab.sees_text("#trial", "a line").await;
    tab.sees("[name='prop.url'][value='typed']").await;
    tab.open("/deploy/code?template=timer").await;
    tab.press("button[value=try]").await;
    tab.sees_text("#trial", "Tried, not deployed").await;
    let source = node.deploy(SECRET, json!({"url": "u", "key": "k"})).await;
    tab.open(&format!("/sources/{}/code", source.id)).await;
    tab.press("button[value=try]").await;
    tab.sees_text("#trial", "It emitted 1 event").await;
    let events = node.events(&source).await;
    assert!(events.is_empty(), "{events:?}");
}
