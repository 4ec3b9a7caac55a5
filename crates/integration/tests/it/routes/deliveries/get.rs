//! `GET /deliveries/{id}`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn a_delivery_tells_what_was_attempted() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply {
        body: "not now".to_owned(),
        ..Reply::status(503)
    });
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let subscription = node
        .get("/users/me/subscriptions")
        .await
        .is(200)
        .items()
        .remove(0);
    node.run(&source, json!({"emits": [[{"n": 1}, {}]]})).await;
    let attempted = |all: &[Value]| all.len() == 1 && all[0]["attempts"][0]["at_ms"].is_u64();
    let listed = node.deliveries_until(&id, attempted).await.remove(0);
    let path = format!("/deliveries/{}", listed["id"].as_str().unwrap());
    let delivery = node.get(&path).await.is(200).data();

    assert!(
        delivery["id"].as_str().unwrap().starts_with("dlv_"),
        "{delivery}"
    );
    let event = node.events(&source).await.remove(0);
    for (field, expected) in [
        ("webhook_id", &json!(id)),
        ("subscription_id", &subscription["id"]),
        ("emitter_id", &json!(source.id)),
        ("event_id", &event["id"]),
        ("event_name", &json!("")),
        ("state", &json!("pending")),
        ("event", &json!({"n": 1})),
    ] {
        assert_eq!(&delivery[field], expected, "{field}: {delivery}");
    }
    let attempt = &delivery["attempts"][0];
    assert_eq!(
        (&attempt["status"], &attempt["response_excerpt"]),
        (&json!(503), &json!("not now"))
    );
    assert!(attempt["latency_ms"].is_u64(), "{attempt}");
    let time = |value: &Value| value.as_u64().unwrap();
    assert!(
        time(&delivery["next_attempt_at_ms"]) > time(&attempt["at_ms"]),
        "{delivery}"
    );
    assert!(
        time(&delivery["created_at_ms"]) <= time(&attempt["at_ms"]),
        "{delivery}"
    );
    let webhook = node.get(&format!("/webhooks/{id}")).await.is(200).data();
    assert!(webhook["failing_since_ms"].is_u64(), "{webhook}");
}

#[tokio::test]
async fn a_delivery_that_is_none_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("dlv_"), unknown("wh_"), "nonsense".to_owned()] {
        let error = node.get(&format!("/deliveries/{id}")).await.is(404).error();
        assert_eq!(error["message"], format!("there is no delivery `{id}`"));
    }
}
