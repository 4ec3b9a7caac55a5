//! `POST /deliveries/{id}/discard` and `POST /deliveries/discard`.

use headwater_integration::{Node, Receiver, Reply, Source};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

/// A webhook with a pending delivery per event.
async fn waiting(node: &Node, events: &[&str]) -> (Source, String, Receiver) {
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::status(503));
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let emits: Vec<_> = events.iter().map(|event| json!([event, {}])).collect();
    node.run(&source, json!({"emits": emits})).await;
    let attempted = |all: &[Value]| {
        all.len() == events.len() && all.iter().all(|one| one["attempts"][0]["at_ms"].is_u64())
    };
    node.deliveries_until(&id, attempted).await;
    (source, id, receiver)
}

#[tokio::test]
async fn a_discarded_delivery_is_made_again_by_a_retry_alone() {
    let node = Node::builder().private_network().start().await;
    let (_, id, receiver) = waiting(&node, &["tea"]).await;
    let listed = node.deliveries_until(&id, |all| all.len() == 1).await;
    let path = format!("/deliveries/{}", listed[0]["id"].as_str().unwrap());
    let discard = format!("{path}/discard");
    for _ in 0..2 {
        let discarded = node.post(&discard, json!({})).await.is(200).data();
        assert_eq!(
            (&discarded["state"], &discarded["next_attempt_at_ms"]),
            (&json!("discarded"), &Value::Null)
        );
    }
    let replay = json!({"since": 0});
    let path_of_webhook = format!("/webhooks/{id}/replay");
    let replayed = node.post(&path_of_webhook, replay).await.is(200).data();
    assert_eq!(replayed["replayed"], 0);
    receiver.answer(|_| Reply::status(200));
    node.post(&format!("{path}/retry"), json!({})).await.is(200);
    node.deliveries_in(&id, "delivered", 1).await;
    let error = node.post(&discard, json!({})).await.is(409).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("has been delivered"), "{message}");
    let bob = node.user("bob").await;
    bob.post(&discard, json!({})).await.is(404);
    let nobody = format!("/deliveries/{}/discard", unknown("dlv_"));
    node.post(&nobody, json!({})).await.is(404);
}

#[tokio::test]
async fn many_are_discarded_by_a_filter_after_a_count() {
    let node = Node::builder().private_network().start().await;
    let (source, id, _receiver) = waiting(&node, &["1", "2", "3"]).await;
    let (_, other, _other) = waiting(&node, &["4"]).await;
    let filter = |dry_run: bool| json!({"state": "pending", "source_id": source.id, "status": "5xx", "dry_run": dry_run});
    let changed = |count: u64, dry_run: bool| json!({"count": count, "left_out": 0, "is_capped": false, "dry_run": dry_run});
    let path = "/deliveries/discard";
    let told = node.post(path, filter(true)).await.is(200).data();
    assert_eq!(told, changed(3, true));
    node.deliveries_in(&id, "pending", 3).await;
    let done = node.post(path, filter(false)).await.is(200).data();
    assert_eq!(done, changed(3, false));
    node.deliveries_in(&id, "discarded", 3).await;
    node.deliveries_in(&other, "pending", 1).await;
    // Without a state, dead letters are meant.
    let done = node.post(path, json!({})).await.is(200).data();
    assert_eq!(done, changed(0, false));
}

#[tokio::test]
async fn only_what_has_not_been_delivered_can_be_discarded() {
    let node = Node::start().await;
    for state in ["delivered", "discarded"] {
        let answer = node.post("/deliveries/discard", json!({"state": state}));
        let error = answer.await.is(400).error();
        assert_eq!(error["param"], "state");
    }
}
