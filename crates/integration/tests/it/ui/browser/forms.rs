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
    assert_eq!(tab.count("[data-field=board] [role=status]").await, 0);
    tab.press("[data-field=shop] input[type=radio]:not([value=''])")
        .await;
    tab.sees_text("[data-field=board] [role=status]", "One option")
        .await;
    tab.offers("board", "board of mine").await;
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn options_below_a_changed_value_are_loaded_again_and_a_choice_that_is_none_of_them_is_dropped()
 {
    const TABLES: &str = "export default { name: 'Tables', version: '0.0.1', \
        props: { schema: { type: 'string', options: ['public', 'private'] }, \
          table: { type: 'string', options() { return ['shared', `of ${this.schema}`]; } }, \
          column: { type: 'string', optional: true, options() { return [`id of ${this.table}`]; } } }, run() {} }";
    let node = Node::start().await;
    let form = form(&node, TABLES).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.pick("schema", "public").await;
    tab.press("[value='load:table']").await;
    tab.sees_text("[data-field=table] [role=status]", "2 options")
        .await;
    // The button is another one now, and has the focus as the one that was pressed had it.
    let focused = tab.evaluate("document.activeElement.value").await;
    assert_eq!(focused, "load:table");
    // A method that does not ask for the page has one only.
    assert_eq!(tab.count("[value='more:table']").await, 0);
    tab.pick("table", "of public").await;
    tab.press("[value='load:column']").await;
    tab.sees_text("[data-field=column] [role=status]", "One option")
        .await;
    tab.pick("column", "id of").await;
    assert_eq!(value_of(&tab, "prop.column").await, "id of of public");

    tab.pick("schema", "private").await;
    tab.sees_text(
        "[data-field=table] .wrong",
        "“of public” is not among the options",
    )
    .await;
    tab.offers("table", "of private").await;
    tab.sees_text(
        "[data-field=column] .wrong",
        "“id of of public” is not among",
    )
    .await;
    for name in ["prop.table", "prop.column"] {
        assert_eq!(value_of(&tab, name).await, "", "{name}");
    }
    tab.pick("table", "shared").await;
    tab.pick("schema", "public").await;
    tab.offers("table", "of public").await;
    assert_eq!(value_of(&tab, "prop.table").await, "shared");
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_account_is_mended_in_another_tab_and_the_form_goes_on() {
    const APPS: &str = "[acme]\nname = \"Acme\"\nauth = \"fields\"\nfields = [{ name = \"port\", port = true }, \
        { name = \"key\", label = \"Key\", secret = true }, { name = \"token\", label = \"Token\", secret = true }]\n";
    const NEEDS: &str = "export default { name: 'Needs', version: '0.0.1', props: { acme: { type: 'app', app: 'acme' }, \
        board: { type: 'string', options() { const { key, token } = this.acme.$auth; \
          if (key !== 'good') throw new Error('Request failed with status code 401'); return [`board of ${token}`]; } } }, run() {} }";
    let node = Node::builder().file("apps/own.toml", APPS).start().await;
    let fields = json!({"port": "80", "key": "bad", "token": "t1"});
    node.account("acme", fields).await;
    let form = form(&node, NEEDS).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.press("[value='load:board']").await;
    tab.sees_text(
        "[data-field=acme] .wrong",
        "The credentials of the account are not accepted",
    )
    .await;
    tab.sees_text("[data-field=board] button", "Try again")
        .await;
    tab.press("[data-field=acme] a[href*=reconnect]").await;
    tab.goes_to_tab(1).await;
    tab.sees_text("h1", "Reconnect").await;
    assert_eq!(value_of(&tab, "field.port").await, "80");
    tab.write("[name='field.key']", "good").await;
    tab.press("form button.primary").await;
    tab.sees_text(".flash", "the node has no test for this app")
        .await;
    tab.sees_text(".returning", "Go back to the tab that you came from")
        .await;
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    tab.press("[data-closes]").await;
    tab.has_tabs(1).await;
    tab.goes_to_tab(0).await;
    // The secret that was left empty is the one that was stored.
    tab.offers("board", "board of t1").await;
    assert_eq!(tab.count("[data-field] .wrong").await, 0);

    // Another account is chosen as soon as it is there, and the form looks for it no longer.
    tab.press("[data-connects]").await;
    tab.goes_to_tab(1).await;
    for (field, value) in [("key", "good"), ("token", "t2")] {
        tab.write(&format!("[name='field.{field}']"), value).await;
    }
    tab.write("[name='field.port']", "8080").await;
    tab.press("form button.primary").await;
    tab.press("[data-closes]").await;
    tab.has_tabs(1).await;
    tab.goes_to_tab(0).await;
    tab.offers("board", "board of t2").await;
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
    tab.sees_text(".summary-of-errors h2", "It was not deployed")
        .await;
    tab.sees_text(".summary-of-errors", "no luck").await;
    tab.sees_text("[data-field=board] [role=status]", "One option")
        .await;
    tab.sees_text(".summary-of-errors", "no luck").await;
    assert_eq!(tab.count(".summary-of-errors").await, 1);
}

#[tokio::test]
async fn a_missing_value_stays_told_until_there_is_one() {
    const LACKS: &str = "export default { name: 'Lacks', version: '0.0.1', \
        props: { url: 'string', board: { type: 'string', options() { return ['b1']; } } }, run() {} }";
    let node = Node::start().await;
    let form = form(&node, LACKS).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    tab.write("[name='prop.url']", "u").await;
    tab.press("button.primary[value=deploy]").await;
    tab.sees_text(".summary-of-errors h2", "One value is missing")
        .await;
    tab.press("[value='load:board']").await;
    tab.sees_text("[data-field=board] [role=status]", "One option")
        .await;
    tab.sees_text("[data-field=board] .wrong", "choose a value")
        .await;
    tab.sees("[data-field=board] [aria-invalid=true]").await;
    tab.pick("board", "b1").await;
    tab.press("[value='load:board']").await;
    tab.sees("[data-field=board] [role=combobox]:not([aria-invalid])")
        .await;
    assert_eq!(tab.count("[data-field=board] .wrong").await, 0);
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    assert_eq!(tab.problems().await, Vec::<String>::new());
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
    tab.evaluate("void (window.unit = document.querySelector(\"[name='unit.timer']\"))")
        .await;
    tab.write("[data-field=timer] input[aria-label=Number]", "7")
        .await;
    let chosen = tab
        .evaluate("document.querySelector('[data-field=timer] input[type=radio]:checked').value")
        .await;
    assert_eq!(chosen, "interval");
    tab.sees_text("[data-field=timer] .ticks", "every 7 minutes")
        .await;
    let focused = tab.evaluate("document.activeElement.value").await;
    assert_eq!(focused, "7");
    // Only the times are others: the controls that are in use stay.
    assert_eq!(tab.evaluate("window.unit.isConnected").await, true);
    tab.choose("[name='unit.timer']", "hours").await;
    tab.sees_text("[data-field=timer] .ticks", "every 7 hours")
        .await;
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
