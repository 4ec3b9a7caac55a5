//! `DELETE /auto_subscriptions`.

use headwater_integration::{Method, Node};
use serde_json::{Value, json};

use crate::code::EMITTER;

#[tokio::test]
async fn sources_deployed_after_it_are_not_subscribed_to() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let pair = [
        ("event_name", "$errors"),
        ("listener_id", webhook["id"].as_str().unwrap()),
    ];
    let ask = |method: Method| {
        let request = node.request(method, "/auto_subscriptions").query(&pair);
        node.send(request)
    };
    ask(Method::DELETE).await.is(404);
    ask(Method::POST).await.is(200);
    assert_eq!(ask(Method::DELETE).await.is(204).text, "");
    ask(Method::DELETE).await.is(404);
    node.deploy(EMITTER, json!({})).await;
    let none = node.get("/users/me/subscriptions").await.is(200).items();
    assert_eq!(none, [Value::Null; 0]);
}
