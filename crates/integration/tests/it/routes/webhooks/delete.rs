//! `DELETE /webhooks/{id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::unknown;

#[tokio::test]
async fn a_deleted_webhook_is_gone_with_its_subscriptions() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let id = webhook["id"].as_str().unwrap();
    node.subscribe("dc_*", id, "").await;
    let body = json!({"event_name": "$errors", "listener_id": id});
    node.post("/auto_subscriptions", body.clone()).await.is(200);
    let path = format!("/webhooks/{id}");
    assert_eq!(node.delete(&path).await.is(204).text, "");
    node.get(&path).await.is(404);
    node.delete(&path).await.is(404);
    node.post("/auto_subscriptions", body).await.is(404);
    for list in ["/users/me/webhooks", "/users/me/subscriptions"] {
        assert_eq!(node.get(list).await.is(200).items(), [Value::Null; 0]);
    }
    node.delete(&format!("/webhooks/{}", unknown("wh_")))
        .await
        .is(404);
}
