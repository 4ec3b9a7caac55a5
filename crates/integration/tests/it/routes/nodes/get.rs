//! `GET /nodes`.

use std::sync::Arc;

use headwater_integration::{Database, Node};
use serde_json::json;

use crate::code::COUNTING;

#[tokio::test]
async fn a_node_that_is_alone_is_the_only_one() {
    let node = Node::start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    let nodes = node.nodes().await;
    assert_eq!(nodes.len(), 1, "{nodes:?}");
    assert_eq!(nodes[0]["part"], "leads");
    assert_eq!(nodes[0]["draining"], false);
    assert_eq!(nodes[0]["owned"], 1);
    assert_eq!(nodes[0]["address"], node.url());
    assert_eq!(nodes[0]["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn each_node_of_a_cluster_tells_of_all() {
    let database = Arc::new(Database::create());
    let first = Node::builder().of_cluster(&database).start().await;
    let second = Node::builder().of_cluster(&database).start().await;
    second.until_it("follows").await;
    let parts = async |node: &Node| {
        let nodes = node.nodes().await;
        let mut parts: Vec<_> = { nodes.iter() }
            .map(|node| (node["address"].clone(), node["part"].clone()))
            .collect();
        parts.sort_by_key(|(address, _)| address.to_string());
        parts
    };
    let mut expected = vec![
        (json!(first.url()), json!("leads")),
        (json!(second.url()), json!("follows")),
    ];
    expected.sort_by_key(|(address, _)| address.to_string());
    assert_eq!(parts(&first).await, expected);
    assert_eq!(parts(&second).await, expected);
}

#[tokio::test]
async fn others_are_told_nothing_of_the_nodes() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    assert_eq!(bob.get("/nodes").await.is(403).error()["code"], "forbidden");
}
