//! `GET /healthz`: for machines that watch the node, without a key.

use headwater_integration::Node;

#[tokio::test]
async fn a_node_that_serves_is_healthy() {
    let node = Node::start().await;
    let healthy = node.with_key(None).get("//healthz").await.is(200).json();
    assert_eq!(healthy["status"], "ok");
}
