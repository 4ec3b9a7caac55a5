//! `DELETE /keys/{id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::unknown;

fn path(key: &Value) -> String {
    format!("/keys/{}", key["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_at_once() {
    let node = Node::start().await;
    let made = node.post("/keys", json!({"name": "laptop"})).await.is(200);
    let made = made.data();
    let with_it = node.with_key(made["key"].as_str());
    with_it.get("/users/me").await.is(200);
    assert_eq!(node.delete(&path(&made)).await.is(204).text, "");
    with_it.get("/users/me").await.is(401);
    node.delete(&path(&made)).await.is(404);
    node.delete(&format!("/keys/{}", unknown("key_")))
        .await
        .is(404);
}

#[tokio::test]
async fn the_last_key_cannot_revoke_itself() {
    let node = Node::start().await;
    let first = node.get("/keys").await.is(200).items().remove(0);
    let error = node.delete(&path(&first)).await.is(409).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("create another first"), "{message}");
    let made = node.post("/keys", json!({"name": "next"})).await.is(200);
    let made = made.data();
    node.delete(&path(&first)).await.is(204);
    node.get("/users/me").await.is(401);
    let with_it = node.with_key(made["key"].as_str());
    with_it.delete(&path(&made)).await.is(409);
}

#[tokio::test]
async fn keys_of_others_are_not_there() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let mine = node.get("/keys").await.is(200).items().remove(0);
    bob.delete(&path(&mine)).await.is(404);
    node.get("/users/me").await.is(200);
    let bobs = bob.get("/keys").await.is(200).items().remove(0);
    node.delete(&path(&bobs)).await.is(204);
    bob.get("/users/me").await.is(401);
}
