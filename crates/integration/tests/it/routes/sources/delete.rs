//! `DELETE /sources/{id}`.

use headwater_integration::{Node, Receiver};
use serde_json::{Value, json};

use crate::code::{hooked, unknown};

#[tokio::test]
async fn a_deleted_source_was_deactivated_and_is_gone() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    receiver.clear();
    let answer = node.delete(&source.path()).await.is(204);
    assert_eq!(answer.text, "");
    assert_eq!(receiver.bodies(), ["1 deactivate"]);
    node.get(&source.path()).await.is(404);
    node.get(source.endpoint()).await.is(404);
    node.get(&format!("{}/event_summaries", source.path()))
        .await
        .is(404);
    assert_eq!(
        node.get("/users/me/sources").await.is(200).items(),
        [Value::Null; 0]
    );
    node.delete(&source.path()).await.is(404);
}

#[tokio::test]
async fn a_source_is_deleted_even_if_deactivate_throws() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let props = json!({"url": receiver.url(), "fails": "deactivate"});
    let source = node.deploy(&hooked("1"), props).await;
    node.delete(&source.path()).await.is(204);
    node.get(&source.path()).await.is(404);
}

#[tokio::test]
async fn deactivate_does_not_run_again_for_an_inactive_source() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    node.put(&source.path(), json!({"active": false}))
        .await
        .is(200);
    receiver.clear();
    node.delete(&source.path()).await.is(204);
    assert_eq!(receiver.bodies(), [""; 0]);
}

#[tokio::test]
async fn what_is_not_there_cannot_be_deleted() {
    let node = Node::start().await;
    node.delete(&format!("/sources/{}", unknown("dc_")))
        .await
        .is(404);
    node.delete("/sources/nonsense").await.is(404);
}
