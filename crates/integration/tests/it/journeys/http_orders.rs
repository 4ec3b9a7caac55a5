//! An HTTP source answers real requests, emits each order once, and its events come back over REST.

use headwater_integration::{Node, fields};
use serde_json::json;

const ORDERS: &str = include_str!("../../../../../examples/http-orders.mjs");

#[tokio::test]
async fn orders_are_answered_and_each_is_emitted_once() {
    let node = Node::start().await;
    let source = node.deploy(ORDERS, json!({})).await;
    let endpoint = source.endpoint();
    let order = |id: u32| json!({"order_id": id, "total": 12.5});

    for id in [1, 2, 1, 3, 2] {
        let answer = node.post(endpoint, order(id)).await.is(202);
        assert_eq!(answer.json(), json!({"accepted": id}));
    }
    let answer = node.post(endpoint, json!({"total": 1})).await.is(400);
    assert_eq!(answer.json(), json!({"error": "order_id is missing"}));

    let events = node.events_until(&source, |events| events.len() >= 3).await;
    assert_eq!(fields(&events, "order_id"), [1, 2, 3]);
    assert_eq!(events[0]["event"], order(1));
    assert_eq!(events[0]["metadata"]["summary"], "Order 1");
    assert_eq!(node.channel(&source, "$errors").await.len(), 0);
}
