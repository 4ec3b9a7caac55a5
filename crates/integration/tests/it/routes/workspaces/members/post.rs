//! `POST /workspaces/{id}/members`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn a_member_adds_a_user_by_id_or_username() {
    let node = Node::start().await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let path = format!("/workspaces/{}", workspace["id"].as_str().unwrap());
    let members = format!("{path}/members");
    for name in ["bob", "eve"] {
        let user = node.user(name).await;
        user.post(&members, json!({"username": name})).await.is(403);
        let id = user.get("/users/me").await.is(200).data()["id"].take();
        let body = match name {
            "bob" => json!({"username": name}),
            _ => json!({"user_id": id}),
        };
        for _ in 0..2 {
            let added = node.post(&members, body.clone()).await.is(200).data();
            assert_eq!(added["id"], id);
        }
        user.get(&path).await.is(200);
    }
    assert_eq!(node.get(&members).await.is(200).items().len(), 3);
}

#[tokio::test]
async fn the_user_and_the_workspace_must_be_there() {
    let node = Node::start().await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let path = format!("/workspaces/{}/members", workspace["id"].as_str().unwrap());
    for user in [unknown("u_"), "nobody".to_owned()] {
        node.post(&path, json!({"user_id": user})).await.is(404);
    }
    let error = node.post(&path, json!({})).await.is(400).error();
    assert_eq!(error["param"], "user_id");
    let none = format!("/workspaces/{}/members", unknown("o_"));
    node.post(&none, json!({"username": "admin"})).await.is(404);
}
