//! `GET /users/me/subscriptions`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::EMITTER;

#[tokio::test]
async fn subscriptions_are_listed_without_pages_in_the_order_of_their_creation() {
    let node = Node::start().await;
    assert_eq!(
        node.get("/users/me/subscriptions").await.is(200).json(),
        json!({"data": []})
    );
    let source = node.deploy(EMITTER, json!({})).await;
    let mut made: Vec<Value> = Vec::new();
    for number in 0..12 {
        let body = json!({"emitter_id": "dc_*", "listener_id": source.id, "event_name": format!("channel-{number}")});
        made.push(node.post("/subscriptions", body).await.is(200).data());
    }
    assert_eq!(
        node.get("/users/me/subscriptions").await.is(200).items(),
        made
    );
}
