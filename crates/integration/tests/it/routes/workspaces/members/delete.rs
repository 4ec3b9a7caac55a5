//! `DELETE /workspaces/{id}/members/{user_id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn a_member_is_removed_or_leaves_but_not_the_last() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let path = format!("/workspaces/{}", workspace["id"].as_str().unwrap());
    let members = format!("{path}/members");
    let (admin, bobs) = (
        node.get("/users/me").await.is(200).data()["id"].take(),
        bob.get("/users/me").await.is(200).data()["id"].take(),
    );
    let (admin, bobs) = (
        format!("{members}/{}", admin.as_str().unwrap()),
        format!("{members}/{}", bobs.as_str().unwrap()),
    );
    bob.delete(&admin).await.is(403);
    node.delete(&bobs).await.is(404);
    let error = node.delete(&admin).await.is(409).error();
    assert!(error["message"].as_str().unwrap().contains("last member"));
    node.post(&members, json!({"username": "bob"}))
        .await
        .is(200);
    assert_eq!(node.delete(&bobs).await.is(204).text, "");
    bob.get(&path).await.is(403);
    node.post(&members, json!({"username": "bob"}))
        .await
        .is(200);
    bob.delete(&bobs).await.is(204);
    bob.get(&path).await.is(403);
    for none in [unknown("u_"), "nonsense".to_owned()] {
        node.delete(&format!("{members}/{none}")).await.is(404);
    }
    let none = format!("/workspaces/{}/members/{}", unknown("o_"), unknown("u_"));
    node.delete(&none).await.is(404);
}
