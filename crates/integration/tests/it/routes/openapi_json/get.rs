//! `GET /openapi.json`: the API described for programs, without a key.

use headwater_integration::{Node, Operation};
use serde_json::json;

#[tokio::test]
async fn the_document_is_the_committed_one_with_this_nodes_address() {
    let node = Node::start().await;
    let document = node.with_key(None).get("//openapi.json").await.is(200);
    assert_eq!(document.header("content-type"), "application/json");
    let document = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{"url": node.url()}]));
    for operation in Operation::all() {
        let method = operation.method.as_str().to_lowercase();
        let found = &document["paths"][&operation.path][&method];
        assert!(found.is_object(), "{operation}");
    }
}

#[tokio::test]
async fn the_server_is_where_the_node_is_reached() {
    let url = "https://events.example.com/headwater/";
    let node = Node::builder().flag("--public-url").flag(url).start().await;
    let document = node.get("//openapi.json").await.is(200).json();
    let server = "https://events.example.com/headwater";
    assert_eq!(document["servers"], json!([{"url": server}]));
}
