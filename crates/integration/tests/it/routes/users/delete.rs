//! `DELETE /users/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn a_deleted_user_is_gone_and_its_key_opens_nothing() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let id = bob.get("/users/me").await.is(200).data()["id"].take();
    let path = format!("/users/{}", id.as_str().unwrap());
    bob.delete(&path).await.is(403);
    assert_eq!(node.delete(&path).await.is(204).text, "");
    bob.get("/users/me").await.is(401);
    node.delete(&path).await.is(404);
    node.delete(&format!("/users/{}", unknown("u_")))
        .await
        .is(404);
    node.delete("/users/nonsense").await.is(404);
    node.user("bob").await;
}

#[tokio::test]
async fn a_user_with_sources_stays_as_it_is() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let id = bob.get("/users/me").await.is(200).data()["id"].take();
    let path = format!("/users/{}", id.as_str().unwrap());
    let source = bob.post("/sources", json!({"component_code": EMITTER}));
    let source = source.await.is(200).data();
    let error = node.delete(&path).await.is(409).error();
    assert!(error["message"].as_str().unwrap().contains("1 sources"));
    let source = format!("/sources/{}", source["id"].as_str().unwrap());
    bob.get(&source).await.is(200);
    bob.delete(&source).await.is(204);
    node.delete(&path).await.is(204);
}

#[tokio::test]
async fn the_administrator_stays() {
    let node = Node::start().await;
    let id = node.get("/users/me").await.is(200).data()["id"].take();
    let path = format!("/users/{}", id.as_str().unwrap());
    node.delete(&path).await.is(409);
    node.get("/users/me").await.is(200);
}
