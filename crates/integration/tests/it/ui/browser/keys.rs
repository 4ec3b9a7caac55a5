//! Pages without a mouse: keys, the dialog that names them, and the palette.

use headwater_integration::{Chromium, Look, Node, Tab};
use serde_json::json;
use thirtyfour::Key;

const QUIET: &str = "export default { name: 'Orders of the shop', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { this.$emit(event.body, { summary: `Order ${event.body.order}` }); } }";

/// Types a key of the page, wherever the focus is.
async fn key(tab: &Tab<'_>, keys: &str) {
    tab.type_keys(keys).await;
}

async fn focused(tab: &Tab<'_>) -> String {
    let text = tab.evaluate("document.activeElement.innerText").await;
    text.as_str().unwrap_or_default().trim().to_owned()
}

/// Writes the words into the palette, and waits for the node's answer, with which it writes its list anew.
async fn look_up(tab: &Tab<'_>, words: &str) {
    tab.type_keys(words).await;
    let search = format!("Search events for “{words}”");
    tab.sees_text("#palette-list li:last-child", &search).await;
}

#[tokio::test]
async fn keys_lead_everywhere_and_can_be_switched_off() {
    let node = Node::start().await;
    let source = node.deploy(QUIET, json!({})).await;
    for order in 1..=3 {
        node.run(&source, json!({"body": {"order": order}})).await;
    }
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open("/").await;
    key(&tab, "gs").await;
    tab.sees_text("h1", "Sources").await;
    key(&tab, "jo").await;
    tab.sees_text("h1", "orders-of-the-shop").await;
    key(&tab, "jjk").await;
    assert_eq!(focused(&tab).await, "Order 3");
    key(&tab, "j").await;
    assert_eq!(focused(&tab).await, "Order 2");
    tab.type_keys(Key::Enter).await;
    tab.sees_text("h1", "Order 2").await;
    // In a field they are letters; Escape leaves it.
    key(&tab, "/gs").await;
    assert_eq!(
        tab.evaluate("document.activeElement.value").await,
        json!("gs")
    );
    tab.type_keys(Key::Escape).await;
    // The dialog names those that the page has a use for.
    key(&tab, "?").await;
    tab.sees_text("#keys[open]", "go to Sources").await;
    assert!(!tab.sees("#keys").await.contains("of the step"));
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    tab.press("#keys [data-keys-on]").await;
    tab.type_keys(Key::Escape).await;
    assert_eq!(tab.count("dialog[open]").await, 0);
    key(&tab, "?gs").await;
    assert_eq!(tab.count("dialog[open]").await, 0);
    tab.open("/sources").await;
    key(&tab, "ge?").await;
    assert_eq!(tab.path().await, "/sources");
    assert_eq!(tab.count("dialog[open]").await, 0);
    // They are switched on again without a key.
    tab.press(".person summary").await;
    tab.press("[data-opens-help]").await;
    tab.press("#keys [data-keys-on]").await;
    tab.press("#keys form button").await;
    key(&tab, "ge").await;
    tab.sees_text("h1", "Events").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn the_palette_finds_pages_acts_and_things() {
    let node = Node::start().await;
    let source = node.deploy(QUIET, json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/sources/{}", source.id)).await;
    // An act of the page.
    tab.chord(Key::Control + "k").await;
    look_up(&tab, "run now").await;
    tab.sees_text("#palette-list [aria-selected=true]", "Run now")
        .await;
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    tab.type_keys(Key::Enter).await;
    tab.arrives_at(&format!("/sources/{}/run", source.id)).await;
    // A thing by words of its name, which the node looks up.
    tab.chord(Key::Control + "k").await;
    look_up(&tab, "shop orders").await;
    tab.sees_text("#palette-list li:first-child", "orders-of-the-shop")
        .await;
    let chosen = "document.getElementById(document.querySelector('[role=combobox]').getAttribute('aria-activedescendant')).innerText";
    tab.type_keys(Key::Down).await;
    let text = tab.evaluate(chosen).await;
    assert!(text.as_str().unwrap().contains("to deploy"), "{text}");
    tab.type_keys(Key::Up).await;
    tab.type_keys(Key::Enter).await;
    tab.arrives_at(&format!("/sources/{}", source.id)).await;
    // Whoever looks for nothing is shown what they opened last.
    tab.open("/").await;
    tab.chord(Key::Control + "k").await;
    tab.sees_text("#palette-list li:first-child", "orders-of-the-shop")
        .await;
    tab.sees_text("#palette-list li:first-child", "opened before")
        .await;
    // An act in words, on what has such a name.
    look_up(&tab, "pause shop").await;
    tab.sees_text(
        "#palette-list [aria-selected=true]",
        "Pause orders-of-the-shop",
    )
    .await;
    tab.type_keys(Key::Enter).await;
    tab.sees_text(".flash", "is paused").await;
    // A page, by the button, where there is room for it.
    tab.look(Look {
        width: 1_280,
        is_dark: false,
    })
    .await;
    tab.press("[data-opens-palette]").await;
    look_up(&tab, "webho").await;
    tab.press("#palette-list li:first-child").await;
    tab.sees_text("h1", "Webhooks").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
}
