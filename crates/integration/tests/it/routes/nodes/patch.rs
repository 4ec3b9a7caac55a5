//! `PATCH /nodes/{id}`. Draining for real is in `cluster`.

use std::sync::Arc;

use headwater_integration::{Database, Node};
use serde_json::json;

#[tokio::test]
async fn a_node_that_nobody_could_follow_is_not_drained() {
    let database = Arc::new(Database::create());
    let node = Node::builder().of_cluster(&database).start().await;
    node.until_it("leads").await;
    let path = format!("/nodes/{}", node.id());
    let refused = node
        .patch(&path, json!({"draining": true}))
        .await
        .is(409)
        .error();
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("start one on the same database"),
        "{message}"
    );
    assert_eq!(node.seen().await["draining"], false);
}

#[tokio::test]
async fn mistakes_are_named() {
    let node = Node::start().await;
    let unknown = node.patch("/nodes/n_none", json!({"draining": true})).await;
    assert_eq!(unknown.is(404).error()["code"], "not_found");
    let missing = node.patch("/nodes/n_none", json!({})).await.is(400).error();
    assert_eq!(missing["param"], "draining");
    let bob = node.user("bob").await;
    let path = "/nodes/n_none";
    bob.patch(path, json!({"draining": true})).await.is(403);
}
