//! `GET /sources/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::{INBOX, unknown};

#[tokio::test]
async fn a_source_is_shown_as_it_was_deployed() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    assert_eq!(node.get(&source.path()).await.is(200).data(), source.record);
    let path = format!("{}?include=configured_props.http", source.path());
    let endpoint = json!({"configured_props": {"http": {"endpoint_url": source.endpoint()}}});
    assert_eq!(node.get(&path).await.is(200).data(), endpoint);
}

#[tokio::test]
async fn an_id_that_names_no_source_is_not_found() {
    let node = Node::start().await;
    for id in ["dc_nonsense", "nonsense", &unknown("dc_"), &unknown("sc_")] {
        let answer = node.get(&format!("/sources/{id}")).await;
        assert_eq!(answer.status, 404, "{id}: {}", answer.text);
        assert_eq!(answer.error()["code"], "not_found");
    }
}

/// Emits what it is run with, or throws it.
const RECORDER: &str = r#"
export default {
  name: "Recorder",
  version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } } },
  run({ event, error }) {
    if (error) throw new Error(error);
    if (event) this.$emit(event, { summary: `event ${event}`, name: "numbers" });
  },
};
"#;

#[tokio::test]
async fn a_source_is_shown_with_its_health_if_asked_for() {
    let node = Node::start().await;
    let source = node.deploy(RECORDER, json!({})).await;
    assert_eq!(source.record.get("health"), None);
    let path = format!("{}?expand=health", source.path());
    let health = async || node.get(&path).await.is(200).data()["health"].clone();
    let fresh = health().await;
    for none in ["last_run", "failing_since_ms", "last_event"] {
        assert_eq!(fresh[none], json!(null), "{none}");
    }
    assert_eq!(fresh["last_24_hours"]["runs"], 0);
    let tick_ms = fresh["next_tick_at_ms"].as_u64().unwrap();
    let created_ms = source.record["created_at"].as_u64().unwrap() * 1_000;
    assert!(tick_ms > created_ms, "{fresh}");

    let first = node.run(&source, json!({"event": 7})).await;
    let bad = node.run(&source, json!({"error": "first"})).await;
    let last = node
        .run(&source, json!({"error": "last\nsecond line"}))
        .await;
    let ill = health().await;
    assert_eq!(ill["last_run"]["id"], last["invocation_id"]);
    assert_eq!(ill["last_run"]["outcome"], "threw");
    assert_eq!(ill["last_run"]["error"], "last");
    assert!(ill["last_run"]["duration_ms"].is_u64());
    let bad = bad["invocation_id"].as_str().unwrap();
    let bad = node.get(&format!("/runs/{bad}")).await.is(200).data();
    assert_eq!(ill["failing_since_ms"], bad["started_at_ms"]);
    assert_eq!(ill["last_event"]["summary"], "event 7");
    assert_eq!(ill["last_event"]["event_name"], "numbers");
    let run = first["invocation_id"].as_str().unwrap();
    let run = node.get(&format!("/runs/{run}")).await.is(200).data();
    assert_eq!(ill["last_event"]["id"], run["events"][0]["id"]);
    let recent = json!({"runs": 3, "failures": 2, "at_least": false});
    assert_eq!(ill["last_24_hours"], recent);

    let off = json!({"active": false});
    node.patch(&source.path(), off).await.is(200);
    let off = health().await;
    assert_eq!(off["next_tick_at_ms"], json!(null));
}
