//! Rows that come while one looks.

use headwater_integration::{Chromium, Node};
use serde_json::json;

const ECHO: &str = "export default { name: 'Echo', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { this.$emit(event.body, { summary: `Order ${event.body.order}` }); } }";

#[tokio::test]
async fn an_event_appears_while_one_looks_and_none_twice() {
    let node = Node::start().await;
    let source = node.deploy(ECHO, json!({})).await;
    node.run(&source, json!({"body": {"order": 1}})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/sources/{}", source.id)).await;
    tab.sees_text("[data-live-state]", "Live").await;
    assert_eq!(tab.count("[data-rows] tr").await, 1);
    node.run(&source, json!({"body": {"order": 2}})).await;
    tab.sees_text("[data-rows] tr:first-child", "Order 2").await;
    // Paused, they are counted; then they come, in their order.
    tab.press("[data-live-pause]").await;
    for order in 3..6 {
        node.run(&source, json!({"body": {"order": order}})).await;
    }
    tab.sees_text("[data-live-show]", "Show 3 new").await;
    assert_eq!(tab.count("[data-rows] tr").await, 2);
    tab.press("[data-live-show]").await;
    tab.sees_text("[data-rows] tr:first-child", "Order 5").await;
    let rows = tab
        .evaluate("[...document.querySelectorAll('[data-rows] th')].map((row) => row.innerText)")
        .await;
    assert_eq!(
        rows,
        json!(["Order 5", "Order 4", "Order 3", "Order 2", "Order 1"])
    );
    assert_eq!(tab.problems().await, Vec::<String>::new());
}
