//! `GET /workspaces/{id}/subscriptions`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn subscriptions_of_what_lives_in_the_workspace_are_listed() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let workspace = user["orgs"][0]["id"].as_str().unwrap();
    let path = format!("/workspaces/{workspace}/subscriptions");
    assert_eq!(node.get(&path).await.is(200).json(), json!({"data": []}));
    let body = json!({"component_code": EMITTER, "workspace_id": workspace});
    let shared = node.post("/sources", body).await.is(200).data();
    let shared = shared["id"].as_str().unwrap();
    let own = node.deploy(EMITTER, json!({})).await.id;
    let webhook = node.webhook("https://receiver.example").await;
    let webhook = webhook["id"].as_str().unwrap();

    let from_shared = node.subscribe(shared, webhook, "").await;
    node.subscribe(&own, webhook, "").await;
    let to_shared = node.subscribe(&own, shared, "news").await;
    let whole = node.subscribe(workspace, webhook, "").await;
    let listed = node.get(&path).await.is(200).items();
    assert_eq!(listed, [from_shared, to_shared, whole]);
}

#[tokio::test]
async fn a_workspace_of_others_is_closed() {
    let node = Node::start().await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let path = format!(
        "/workspaces/{}/subscriptions",
        workspace["id"].as_str().unwrap()
    );
    let bob = node.user("bob").await;
    assert_eq!(bob.get(&path).await.is(403).error()["code"], "forbidden");
    for none in [unknown("o_"), "nonsense".to_owned()] {
        node.get(&format!("/workspaces/{none}/subscriptions"))
            .await
            .is(404);
    }
}
