//! `POST /auto_subscriptions`.

use headwater_integration::{Method, Node};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn later_sources_are_subscribed_to_and_earlier_ones_are_not() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let listener = webhook["id"].as_str().unwrap();
    node.deploy(EMITTER, json!({})).await;
    let mut query = vec![("event_name", "$errors"), ("listener_id", listener)];
    let request = node
        .request(Method::POST, "/auto_subscriptions")
        .query(&query);
    let made = node.send(request).await.is(200).data();
    assert!(made["id"].as_str().unwrap().starts_with("sub_"), "{made}");
    assert_eq!(made["event_name"], "$errors");
    assert_eq!(made["listener_id"], listener);
    let body = json!({"event_name": "$errors", "listener_id": listener});
    let again = node.post("/auto_subscriptions", body).await.is(200).data();
    assert_eq!(again, made);
    query[0].1 = "$logs";
    let request = node
        .request(Method::POST, "/auto_subscriptions")
        .query(&query);
    assert_ne!(node.send(request).await.is(200).data()["id"], made["id"]);

    let later = node.deploy(EMITTER, json!({})).await;
    let listed = node.get("/users/me/subscriptions").await.is(200).items();
    let mut channels: Vec<_> = listed
        .iter()
        .map(|subscription| {
            assert_eq!(subscription["emitter_id"], later.id);
            assert_eq!(subscription["listener_id"], listener);
            subscription["event_name"].as_str().unwrap()
        })
        .collect();
    channels.sort_unstable();
    assert_eq!(channels, ["$errors", "$logs"]);
}

#[tokio::test]
async fn what_is_missing_or_unknown_is_told() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let id = webhook["id"].as_str().unwrap();
    for (event_name, listener, status, param) in [
        (json!(null), id, 400, "event_name"),
        (json!(""), id, 400, "event_name"),
        (json!("orders"), id, 400, "event_name"),
        (json!("$in"), id, 400, "event_name"),
        (json!("$errors"), "", 400, "listener_id"),
        (json!("$errors"), "nonsense", 400, "listener_id"),
        (json!("$errors"), &unknown("wh_"), 404, ""),
        (json!("$logs"), &unknown("dc_"), 404, ""),
    ] {
        let body = json!({"event_name": event_name, "listener_id": listener});
        let error = node
            .post("/auto_subscriptions", body.clone())
            .await
            .is(status)
            .error();
        let named = error["param"].as_str().unwrap_or_default();
        assert_eq!(named, param, "{body}");
    }
    node.deploy(EMITTER, json!({})).await;
    let none = node.get("/users/me/subscriptions").await.is(200).items();
    assert_eq!(none, [Value::Null; 0]);
}
