//! `GET /readyz`: for machines that watch the node, without a key.

use headwater_integration::Node;

#[tokio::test]
async fn a_node_that_serves_is_ready() {
    let node = Node::start().await;
    let ready = node.with_key(None).get("//readyz").await.is(200).json();
    assert_eq!(ready["status"], "ok");
    assert_eq!(ready["checks"]["store"]["status"], "ok");
    assert_eq!(ready["checks"]["runtime"]["status"], "ok");
    assert!(ready["checks"]["runtime"]["version"].is_string(), "{ready}");
}

#[tokio::test]
async fn nothing_of_the_machine_is_told_to_strangers() {
    let node = Node::start().await;
    let anyone = node.with_key(None);
    let ready = anyone.get("//readyz").await.text;
    assert!(
        !ready.contains(&node.data_dir().display().to_string()),
        "{ready}"
    );
    anyone.get("//nowhere").await.is(404);
}
