//! `GET /sources/{id}/events/{event_id}`.

use headwater_integration::{Method, Node};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn an_event_is_whole_with_all_that_is_known_of_it() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let event = json!({"text": "x".repeat(2000)});
    let options = json!({"id": 7, "name": "news", "summary": "Seven", "ts": 1_700_000_000_000_u64});
    let run = node.request(Method::POST, &format!("{}/run", source.path()));
    let run = run.header("x-request-id", "req-of-the-test");
    let run = run.header("traceparent", TRACE);
    let run = run.json(&json!({"event": {"emits": [[event, options]]}}));
    let report = node.send(run).await.is(200).data();

    let listed = node.events(&source).await.remove(0);
    let id = listed["id"].as_str().unwrap();
    let path = format!("{}/events/{id}", source.path());
    let shown = node.get(&path).await.is(200).data();
    let expected = json!({
        "id": id,
        "indexed_at_ms": listed["indexed_at_ms"],
        "event": event,
        "metadata": {
            "emit_id": id, "name": "news", "emitter_id": source.id, "summary": "Seven", "id": 7,
            "ts": 1_700_000_000_000_u64, "run_id": report["invocation_id"],
        },
        "size_bytes": event.to_string().len(),
        "request_id": "req-of-the-test",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
    });
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn errors_and_scheduled_events_are_found_too() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let due_ms = 32_503_680_000_000_u64;
    let emits = json!([["later", {"delivery_ts": due_ms}], null]);
    node.post(
        &format!("{}/run", source.path()),
        json!({"event": {"emits": emits}}),
    )
    .await;
    for (channel, due) in [("$errors", Value::Null), ("$in", json!(due_ms))] {
        let listed = node.channel(&source, channel).await.remove(0);
        let id = listed["id"].as_str().unwrap();
        let path = format!("{}/events/{id}", source.path());
        let shown = node.get(&path).await.is(200).data();
        assert_eq!(shown["metadata"]["name"], channel);
        assert_eq!(shown["event"], listed["event"], "{channel}");
        assert_eq!(shown["deliver_at_ms"], due, "{channel}");
    }
}

#[tokio::test]
async fn an_event_that_is_gone_says_that_retention_may_have_taken_it() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [[1, {}]]})).await;
    let first = node.events(&source).await.remove(0)["id"].take();
    node.run(&source, json!({"emits": vec![json!([2, {}]); 100]}))
        .await;
    let is_gone = |events: &[Value]| events.iter().all(|event| event["id"] != first);
    node.events_until(&source, is_gone).await;
    let path = format!("{}/events/{}", source.path(), first.as_str().unwrap());
    let error = node.get(&path).await.is(404).error();
    assert_eq!(error["code"], "not_found");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("retention took it"), "{message}");
    assert!(message.contains("newest 100 events"), "{message}");
}

#[tokio::test]
async fn another_tenants_events_and_nonsense_are_not_found() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [[1, {}]]})).await;
    let id = node.events(&source).await.remove(0)["id"].take();
    let id = id.as_str().unwrap();
    let path = format!("{}/events/{id}", source.path());
    let bob = node.user("bob").await;
    let error = bob.get(&path).await.is(404).error();
    assert_eq!(
        error["message"],
        format!("there is no source `{}`", source.id)
    );
    node.get(&path).await.is(200);
    let path = format!("/sources/{}/events/{id}", unknown("dc_"));
    node.get(&path).await.is(404);
    let path = format!("{}/events/nonsense", source.path());
    let error = node.get(&path).await.is(404).error();
    assert_eq!(error["message"], "there is no event `nonsense`");
}
