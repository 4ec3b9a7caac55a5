//! `GET /deliveries/counts`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn deliveries_of_a_filter_are_counted_by_state() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|request| {
        Reply::status(if request.text() == "\"bad\"" {
            500
        } else {
            200
        })
    });
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let other = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [[1, {}], ["bad", {}]]}))
        .await;
    for id in [&id, &other] {
        node.deliveries_until(id, |all| {
            all.len() == 2 && all.iter().all(|one| one["attempts"][0]["at_ms"].is_u64())
        })
        .await;
    }
    let counts = |pending: u64, delivered: u64| {
        let count = |count| json!({"count": count, "is_capped": false});
        json!({
            "pending": count(pending), "delivered": count(delivered),
            "dead": count(0), "discarded": count(0),
        })
    };
    for (query, pending, delivered) in [
        (String::new(), 2, 2),
        (format!("?webhook_id={id}"), 1, 1),
        ("?status=5xx".to_owned(), 2, 0),
        ("?state=delivered".to_owned(), 0, 2),
        ("?until=1".to_owned(), 0, 0),
    ] {
        let path = format!("/deliveries/counts{query}");
        let counted = node.get(&path).await.is(200).data();
        assert_eq!(counted, counts(pending, delivered), "{query}");
    }
    let bob = node.user("bob").await;
    let counted = bob.get("/deliveries/counts").await.is(200).data();
    assert_eq!(counted, counts(0, 0));
}

#[tokio::test]
async fn a_wrong_filter_is_told() {
    let node = Node::start().await;
    let error = node
        .get("/deliveries/counts?status=6xx")
        .await
        .is(400)
        .error();
    assert_eq!(error["param"], "status");
    let path = format!("/deliveries/counts?webhook_id={}", unknown("wh_"));
    node.get(&path).await.is(404);
}
