//! Writing code in the browser, by keyboard alone.

use headwater_integration::{Chromium, Look, Node, Tab};
use serde_json::json;

const ECHO: &str = "export default { name: 'Echo', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { this.$emit(event.body); } }";

/// The content of the editor, which lives in a shadow root.
const CONTENT: &str = "document.querySelector('.editor').shadowRoot.querySelector('.cm-content')";

/// Waits until the editor is there, and puts the focus in it as a click on its label does.
async fn enter(tab: &Tab<'_>) {
    tab.sees(".editor").await;
    tab.press("label[for=code]").await;
    assert_eq!(
        tab.evaluate(&format!(
            "{CONTENT}.getRootNode().activeElement === {CONTENT}"
        ))
        .await,
        json!(true)
    );
}

/// The name of the element that has the focus.
async fn focused(tab: &Tab<'_>) -> String {
    let focused = tab.evaluate("document.activeElement.className").await;
    focused.as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn code_is_written_and_saved_by_keyboard_under_the_policy_of_pages() {
    let node = Node::start().await;
    let source = node.deploy(ECHO, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/sources/{}/code", source.id)).await;
    enter(&tab).await;
    assert_eq!(tab.count("textarea.code:not([hidden])").await, 0);
    // Tab indents, and Escape lets it leave, for a moment: nobody is caught in the editor.
    tab.type_keys(thirtyfour::Key::Tab).await;
    assert_eq!(focused(&tab).await, "editor");
    tab.type_keys(thirtyfour::Key::Escape + thirtyfour::Key::Tab)
        .await;
    let left = tab.evaluate("document.activeElement.tagName").await;
    assert_eq!(left, "SUMMARY");
    // The keys of pages are letters here.
    enter(&tab).await;
    tab.chord(thirtyfour::Key::Control + "a").await;
    let code = ECHO.replace("'Echo'", "'gs/?'");
    tab.type_keys(format!("{code}//")).await;
    let written = tab
        .evaluate("document.querySelector('#code').value.replace(/\\s|[)}\\]]/g, '').slice(0, 40)")
        .await;
    let wanted: String = code
        .replace(char::is_whitespace, "")
        .replace(['}', ')', ']'], "");
    assert_eq!(written.as_str().unwrap(), &wanted[..40]);
    tab.chord(thirtyfour::Key::Control + "s").await;
    tab.sees_text(".flash", "runs the new code").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_field_of_json_opens_in_the_editor_and_runs_by_a_key() {
    let node = Node::start().await;
    let source = node.deploy(ECHO, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/sources/{}/run", source.id)).await;
    assert_eq!(tab.count(".editor").await, 0);
    tab.press("[data-opens]").await;
    tab.sees(".editor").await;
    tab.type_keys(r#"{"body": {"order": 1"#).await;
    tab.chord(thirtyfour::Key::Control + thirtyfour::Key::Enter)
        .await;
    tab.sees_text("section.card", "1 event").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_editor_is_for_everybody_in_both_themes() {
    let node = Node::start().await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    for is_dark in [false, true] {
        for width in [360, 1_440] {
            tab.look(Look { width, is_dark }).await;
            tab.open("/deploy/code?template=rss").await;
            tab.sees(".editor").await;
            assert_eq!(tab.barriers().await, Vec::<String>::new());
            assert_eq!(tab.problems().await, Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn only_pages_with_code_load_the_editor() {
    let node = Node::start().await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let loaded = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('codemirror.js')).map((one) => one.encodedBodySize)";
    for path in ["/", "/sources", "/deploy"] {
        tab.open(path).await;
        assert_eq!(tab.evaluate(loaded).await, json!([]), "{path}");
    }
    tab.open("/deploy/code").await;
    tab.sees(".editor").await;
    let sizes = tab.evaluate(loaded).await;
    let size = sizes[0].as_u64().unwrap();
    assert!((1..=180 * 1_024).contains(&size), "{size} bytes");
}
