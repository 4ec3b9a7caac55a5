//! `POST /users`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn a_new_user_gets_a_key_and_has_nothing() {
    let node = Node::start().await;
    let body = json!({"username": "bob", "email": "bob@example.com"});
    let made = node.post("/users", body).await.is(200).data();
    assert!(made["id"].as_str().unwrap().starts_with("u_"), "{made}");
    assert_eq!(made["is_admin"], false);
    let key = made["api_key"].as_str().unwrap();
    assert!(key.starts_with("hw_"), "{made}");
    let bob = node.with_key(Some(key));
    let user = bob.get("/users/me").await.is(200).data();
    assert_eq!(
        (&user["id"], &user["username"]),
        (&made["id"], &json!("bob"))
    );
    assert_eq!(user["orgs"], json!([]));
}

#[tokio::test]
async fn only_the_administrator_makes_users() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let body = json!({"username": "eve", "email": "eve@example.com"});
    let error = bob.post("/users", body.clone()).await.is(403).error();
    assert_eq!(error["code"], "forbidden");
    node.post("/users", body).await.is(200);
}

#[tokio::test]
async fn names_are_taken_once_and_have_their_form() {
    let node = Node::start().await;
    let bob = json!({"username": "bob", "email": "bob@example.com"});
    node.post("/users", bob.clone()).await.is(200);
    node.post("/users", bob).await.is(409);
    for (body, param) in [
        (json!({"email": "a@b"}), "username"),
        (json!({"username": "a b", "email": "a@b"}), "username"),
        (json!({"username": "ada"}), "email"),
        (json!({"username": "ada", "email": "ada"}), "email"),
    ] {
        let error = node.post("/users", body.clone()).await.is(400).error();
        assert_eq!(error["param"], param, "{body}");
    }
}
