//! `GET /workspaces` and `GET /workspaces/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn a_user_lists_its_workspaces_in_pages() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let mut made = Vec::new();
    for orgname in ["b", "a"] {
        let body = json!({"orgname": orgname});
        made.push(bob.post("/workspaces", body).await.is(200).data());
    }
    assert_eq!(bob.get("/workspaces").await.is(200).items(), made);
    let page = bob.get("/workspaces?limit=1").await.is(200);
    assert_eq!(page.items(), made[..1]);
    assert_eq!(node.get("/workspaces").await.is(200).items().len(), 1);
}

#[tokio::test]
async fn members_see_a_workspace_and_others_do_not() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let made = bob.post("/workspaces", json!({"orgname": "bobs"})).await;
    let made = made.is(200).data();
    let path = format!("/workspaces/{}", made["id"].as_str().unwrap());
    assert_eq!(bob.get(&path).await.is(200).data(), made);
    assert_eq!(node.get(&path).await.is(403).error()["code"], "forbidden");
    for none in [unknown("o_"), "nonsense".to_owned()] {
        let error = bob.get(&format!("/workspaces/{none}")).await.is(404);
        assert_eq!(error.error()["code"], "not_found");
    }
}
