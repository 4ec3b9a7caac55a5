//! `PATCH /webhooks/{id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::unknown;

#[tokio::test]
async fn only_what_is_named_changes() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let path = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let mut expected = node.get(&path).await.is(200).data();
    for (body, field, value) in [
        (json!({"name": "Orders"}), "name", json!("Orders")),
        (json!({"description": "d"}), "description", json!("d")),
        (
            json!({"url": "http://other.example/x"}),
            "url",
            json!("http://other.example/x"),
        ),
        (json!({"ordering": "none"}), "ordering", json!("none")),
        (json!({"active": false}), "active", json!(false)),
        (json!({"active": "true"}), "active", json!(true)),
        (json!({"name": null}), "name", Value::Null),
        (json!({"description": ""}), "description", Value::Null),
        (json!({}), "name", Value::Null),
    ] {
        expected[field] = value;
        let mut changed = node.patch(&path, body.clone()).await.is(200).data();
        expected["updated_at"] = changed["updated_at"].clone();
        assert_eq!(changed, expected, "{body}");
        changed = node.get(&path).await.is(200).data();
        assert_eq!(changed, expected, "{body}");
    }
}

#[tokio::test]
async fn a_wrong_change_changes_nothing() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let path = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let before = node.get(&path).await.is(200).data();
    for (body, param) in [
        (json!({"name": "new", "url": "http://10.0.0.1"}), "url"),
        (json!({"name": "new", "url": ""}), "url"),
        (json!({"name": "x".repeat(257)}), "name"),
        (json!({"name": "new", "active": "maybe"}), "active"),
        (json!({"name": "new", "ordering": "some"}), "ordering"),
    ] {
        let error = node.patch(&path, body.clone()).await.is(400).error();
        assert_eq!(error["param"], param, "{body}");
    }
    assert_eq!(node.get(&path).await.is(200).data(), before);
    let nobody = format!("/webhooks/{}", unknown("wh_"));
    node.patch(&nobody, json!({"name": "new"})).await.is(404);
}
