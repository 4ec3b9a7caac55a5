//! `PATCH /sources/{id}`: changes what it names.

use headwater_integration::{Node, Receiver};
use serde_json::json;

use crate::code::{answering, hooked, unknown};

#[tokio::test]
async fn a_new_name_leaves_a_paused_source_paused() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    let paused = node
        .patch(&source.path(), json!({"active": false}))
        .await
        .is(200)
        .data();
    let renamed = node
        .patch(&source.path(), json!({"name": "Renamed"}))
        .await
        .is(200)
        .data();
    assert_eq!(renamed["name"], "Renamed");
    for field in [
        "id",
        "active",
        "component_id",
        "configured_props",
        "name_slug",
        "created_at",
    ] {
        assert_eq!(renamed[field], paused[field], "{field}");
    }
    node.get(source.endpoint()).await.is(404);
}

#[tokio::test]
async fn a_new_name_alone_runs_no_hook() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    receiver.clear();
    node.patch(&source.path(), json!({"name": "Renamed"}))
        .await
        .is(200);
    assert_eq!(receiver.bodies(), [""; 0]);
}

#[tokio::test]
async fn new_values_are_an_update_with_hooks() {
    let node = Node::builder().private_network().start().await;
    let (former, next) = (Receiver::start().await, Receiver::start().await);
    let source = node
        .deploy(&hooked("1"), json!({"url": former.url()}))
        .await;
    former.clear();
    let body = json!({"configured_props": {"url": next.url()}});
    node.patch(&source.path(), body).await.is(200);
    assert_eq!(former.bodies(), ["1 deactivate"]);
    assert_eq!(next.bodies(), ["1 activate"]);
}

#[tokio::test]
async fn what_is_not_there_cannot_be_changed() {
    let node = Node::start().await;
    node.patch(
        &format!("/sources/{}", unknown("dc_")),
        json!({"name": "x"}),
    )
    .await
    .is(404);
}

#[tokio::test]
async fn an_empty_name_is_refused_and_changes_nothing() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    let before = node.get(&source.path()).await.is(200).data();
    for name in ["", " "] {
        let body = json!({"name": name, "active": false});
        for answer in [
            node.patch(&source.path(), body.clone()).await,
            node.put(&source.path(), body).await,
        ] {
            assert_eq!(answer.is(400).error()["param"], "name");
        }
    }
    assert_eq!(node.get(&source.path()).await.is(200).data(), before);
}
