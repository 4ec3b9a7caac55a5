//! Rows that are selected: by keys, all at once, and without script.

use headwater_integration::{Chromium, Node};
use serde_json::json;

use crate::code::EMITTER;

#[tokio::test]
async fn rows_are_selected_by_keys_and_all_at_once() {
    let node = Node::start().await;
    for _ in 0..3 {
        node.deploy(EMITTER, json!({})).await;
    }
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open("/sources").await;
    tab.sees_text("[data-live-state]", "Live").await;
    let disabled = "document.querySelectorAll('#selection button:disabled').length";
    assert_eq!(tab.evaluate(disabled).await, json!(4));
    tab.type_keys("jx").await;
    tab.sees_text("[data-selected]", "1 selected").await;
    tab.type_keys("jx").await;
    tab.sees_text("[data-selected]", "2 selected").await;
    assert_eq!(tab.count("tr.chosen").await, 2);
    assert_eq!(tab.evaluate(disabled).await, json!(0));
    assert_eq!(tab.barriers().await, Vec::<String>::new());
    tab.press("[data-selects-all]").await;
    tab.sees_text("[data-selected]", "3 selected").await;
    tab.sees_text("[data-selects-all]", "Select none").await;
    // Rows that come or change keep the choice.
    let fourth = node.deploy(EMITTER, json!({})).await;
    tab.sees(&format!("tr[data-row='{}']", fourth.id)).await;
    tab.sees_text("[data-selected]", "3 selected").await;
    tab.press(&format!("tr[data-row='{}'] input", fourth.id))
        .await;
    tab.sees_text("[data-selected]", "4 selected").await;
    tab.press("#selection button[value=pause]").await;
    tab.sees_text("h1", "Pause 4 sources?").await;
    tab.press("form .danger").await;
    tab.sees_text(".flash", "4 sources are paused").await;
    assert_eq!(tab.path().await, "/sources");
    assert_eq!(tab.count("tr.chosen").await, 0);
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn rows_are_selected_without_script() {
    let node = Node::start().await;
    for _ in 0..2 {
        node.deploy(EMITTER, json!({})).await;
    }
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.run_no_script().await;
    tab.open("/sources").await;
    tab.press("[data-selects-all]").await;
    tab.sees("tbody input[checked]").await;
    tab.press("#selection button[value=delete]").await;
    tab.sees_text("h1", "Delete 2 sources?").await;
    tab.press("form .danger").await;
    tab.sees_text(".flash", "2 sources are deleted").await;
    tab.sees_text("main", "There are no sources here yet").await;
}
