//! Fields of props with script: items of lists, secrets, options by the thousand, and drafts of code.

use headwater_integration::{Chromium, Node, Tab};
use serde_json::{Value, json};
use thirtyfour::Key;

const FIELDS: &str = "export default { name: 'Fields', version: '0.0.1', \
    props: { tags: { type: 'string[]', label: 'Tags' }, keys: { type: 'string[]', secret: true, optional: true }, \
      far: { type: 'string', optional: true, options: Array.from({ length: 2000 }, (_, n) => ({ label: `Row ${n}`, value: `r${n}` })) }, \
      many: { type: 'string[]', optional: true, options: Array.from({ length: 12 }, (_, n) => `m${n}`) }, \
      found: { type: 'string', optional: true, useQuery: true, options: ({ query }) => query ? [`found ${query}`] : [] } }, \
    run() {} }";

/// The values of a field's controls, as the form sends them.
async fn sent(tab: &Tab<'_>, name: &str) -> Value {
    let values = format!(
        "new FormData(document.querySelector('form[data-props]')).getAll('{name}').filter(Boolean)"
    );
    tab.evaluate(&values).await
}

#[tokio::test]
async fn fields_of_many_values_are_filled_by_keyboard() {
    let node = Node::start().await;
    let component = node.save(FIELDS).await;
    let form = format!("/deploy/{}", component["id"].as_str().unwrap());
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&form).await;
    // Each item has its field; lines that are pasted are several.
    tab.sees("[data-field=tags] .items input").await;
    assert_eq!(tab.count("[data-field=tags] textarea").await, 0);
    tab.press("[data-field=tags] label").await;
    tab.type_keys("one" + Key::Enter).await;
    tab.evaluate(
        "void (() => { const data = new DataTransfer(); data.setData('text', 'two\\n three \\n\\nfour'); \
         const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }); \
         document.activeElement.dispatchEvent(paste); })()",
    )
    .await;
    assert_eq!(
        sent(&tab, "item.tags").await,
        json!(["one", "two", "three", "four"])
    );
    tab.press("[data-field=tags] li:nth-child(2) button").await;
    assert_eq!(
        sent(&tab, "item.tags").await,
        json!(["one", "three", "four"])
    );

    // A secret is seen as long as one is at it.
    tab.press("[data-field=keys] label").await;
    tab.type_keys("s3cret" + Key::Tab + Key::Enter).await;
    let shown = "[data-field=keys] [aria-pressed=true]";
    assert_eq!(tab.count(shown).await, 1);
    assert_eq!(tab.count("[data-field=keys] input[type=text]").await, 1);
    tab.type_keys(Key::Tab + Key::Tab).await;
    assert_eq!(
        tab.count(shown).await + tab.count("[data-field=keys] input[type=text]").await,
        0
    );

    // Two thousand options are found by typing, and stand in no list of the page.
    assert_eq!(tab.count("option").await, 0);
    tab.pick("far", "Row 1999").await;
    assert_eq!(sent(&tab, "prop.far").await, json!(["r1999"]));
    tab.write("[data-field=far] [role=combobox]", "own").await;
    tab.type_keys(Key::Tab).await;
    assert_eq!(sent(&tab, "own.far").await, json!(["own"]));
    assert_eq!(sent(&tab, "prop.far").await, json!([]));
    for label in ["m3", "m11"] {
        tab.pick("many", label).await;
    }
    assert_eq!(sent(&tab, "prop.many").await, json!(["m3", "m11"]));
    tab.type_keys("mine" + Key::Enter).await;
    assert_eq!(sent(&tab, "item.many").await, json!(["mine"]));
    tab.press("[data-field=many] .chosen li:first-child button")
        .await;
    assert_eq!(sent(&tab, "prop.many").await, json!(["m11"]));

    // The app is asked while one types.
    tab.pick("found", "it").await;
    assert_eq!(sent(&tab, "prop.found").await, json!(["found it"]));
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn code_that_was_not_saved_is_offered_again() {
    let node = Node::start().await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let writes = async |text: &str| {
        tab.sees(".editor").await;
        tab.press("label[for=code]").await;
        tab.type_keys(format!("// {text}") + Key::Enter).await;
    };
    let code = "document.querySelector('#code').value.slice(0, 8)";
    tab.open("/deploy/code?template=http").await;
    assert_eq!(tab.count(".draft").await, 0);
    writes("draft").await;
    tab.open("/deploy/code?template=timer").await;
    tab.press(".draft button").await;
    assert_eq!(tab.evaluate(code).await, "// draft");
    tab.open("/deploy/code").await;
    tab.press(".draft button:last-child").await;
    tab.open("/deploy/code").await;
    tab.sees(".editor").await;
    assert_eq!(tab.count(".draft").await, 0);
    // Whoever signs out leaves nothing behind.
    writes("secret").await;
    tab.open("/").await;
    let drafts = "Object.keys(localStorage).filter((name) => name.includes('draft')).length";
    assert_eq!(tab.evaluate(drafts).await, 1);
    tab.evaluate("void document.querySelector(\"form[action='/signout']\").requestSubmit()")
        .await;
    tab.sees("#key").await;
    assert_eq!(tab.evaluate(drafts).await, 0);
    assert_eq!(tab.problems().await, Vec::<String>::new());
}
