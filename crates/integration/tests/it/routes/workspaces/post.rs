//! `POST /workspaces`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn whoever_makes_a_workspace_is_its_first_member() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let body = json!({"orgname": "the-bobs", "name": "The Bobs"});
    let made = bob.post("/workspaces", body).await.is(200).data();
    assert!(made["id"].as_str().unwrap().starts_with("o_"), "{made}");
    assert_eq!(
        (&made["orgname"], &made["name"], &made["email"]),
        (
            &json!("the-bobs"),
            &json!("The Bobs"),
            &json!("bob@example.com")
        )
    );
    assert_eq!(made["daily_credits_used"], 0);
    let user = bob.get("/users/me").await.is(200).data();
    assert_eq!(user["orgs"], json!([made]));
}

#[tokio::test]
async fn orgnames_are_taken_once_and_have_their_form() {
    let node = Node::start().await;
    let body = json!({"orgname": "team", "email": "team@example.com"});
    let made = node.post("/workspaces", body.clone()).await.is(200).data();
    assert_eq!(
        (&made["name"], &made["email"]),
        (&json!("team"), &json!("team@example.com"))
    );
    node.post("/workspaces", body).await.is(409);
    for (body, param) in [
        (json!({}), "orgname"),
        (json!({"orgname": "A Team"}), "orgname"),
        (json!({"orgname": "a", "email": "nobody"}), "email"),
    ] {
        let error = node.post("/workspaces", body.clone()).await.is(400).error();
        assert_eq!(error["param"], param, "{body}");
    }
}
