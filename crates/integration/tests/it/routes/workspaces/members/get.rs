//! `GET /workspaces/{id}/members`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn members_see_each_other() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let path = format!("/workspaces/{}/members", workspace["id"].as_str().unwrap());
    bob.get(&path).await.is(403);
    node.post(&path, json!({"username": "bob"})).await.is(200);
    let members = bob.get(&path).await.is(200);
    let names: Vec<_> = members
        .items()
        .iter()
        .map(|member| member["username"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["admin", "bob"]);
    let page = bob.get(&format!("{path}?limit=1")).await.is(200);
    assert_eq!(page.items(), members.items()[..1]);
    let none = format!("/workspaces/{}/members", unknown("o_"));
    node.get(&none).await.is(404);
}
