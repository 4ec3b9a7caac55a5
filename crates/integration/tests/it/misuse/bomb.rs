//! Sources that multiply the events they get: what waits is bounded, that is said, and they can be deleted.

use headwater_integration::Node;
use serde_json::json;

use crate::code::INBOX;

const MULTIPLYING: &str = r#"
export default {
  name: "Multiplying",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run() {
    for (let i = 0; i < 5; i++) this.$emit({ i, text: "x".repeat(1000) });
  },
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn events_that_multiply_are_bounded_and_their_sources_deleted() {
    let builder = Node::builder().flag("--queued-events-per-owner=200");
    let node = builder.start().await;
    let mut bombs = Vec::new();
    for _ in 0..2 {
        let bomb = node.deploy(MULTIPLYING, json!({})).await;
        node.subscribe("dc_*", &bomb.id, "").await;
        bombs.push(bomb);
    }
    node.get(bombs[0].endpoint()).await.is(200);
    let is_told = |errors: &[serde_json::Value]| {
        let mut codes = errors.iter().map(|error| &error["event"]["error"]["code"]);
        codes.any(|code| code == "queue_full")
    };
    // The first event that finds no room is one for either of them.
    tokio::select! {
        _ = node.channel_until(&bombs[0], "$errors", is_told) => {}
        _ = node.channel_until(&bombs[1], "$errors", is_told) => {}
    }
    let metrics = node.get("//metrics").await.is(200).text;
    let queued = metrics
        .lines()
        .find_map(|line| line.strip_prefix("headwater_queue_invocations "))
        .unwrap_or_else(|| panic!("{metrics}"));
    assert!(queued.parse::<f64>().unwrap() <= 201.0, "{queued}");
    for bomb in &bombs {
        node.delete(&bomb.path()).await.is(204);
    }
    let inbox = node.deploy(INBOX, json!({})).await;
    node.get(inbox.endpoint()).await.is(200);
    node.events_until(&inbox, |events| events.len() == 1).await;
}
