//! `POST /keys`.

use headwater_integration::Node;
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_key_is_shown_once_and_opens_the_same_user() {
    let node = Node::start().await;
    let made = node.post("/keys", json!({"name": "laptop"})).await.is(200);
    let made = made.data();
    assert_eq!(
        (&made["name"], &made["last_used_at"]),
        (&json!("laptop"), &Value::Null)
    );
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("hw_"), "{made}");
    let with_it = node.with_key(Some(key));
    assert_eq!(
        with_it.get("/users/me").await.is(200).data()["id"],
        node.get("/users/me").await.is(200).data()["id"]
    );
    let error = node.post("/keys", json!({})).await.is(400).error();
    assert_eq!(error["param"], "name");
}

#[tokio::test]
async fn no_file_of_the_store_has_a_key_in_it() {
    let node = Node::start().await;
    let made = node.post("/keys", json!({"name": "laptop"})).await.is(200);
    let made = made.data()["key"].as_str().unwrap().to_owned();
    for path in node.store_files() {
        let bytes = std::fs::read(&path).unwrap();
        for key in [made.as_str(), node.api_key()] {
            let is_there = bytes.windows(key.len()).any(|part| part == key.as_bytes());
            assert!(!is_there, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn the_administrator_makes_a_key_for_another_user() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let id = |user: Value| user["id"].as_str().unwrap().to_owned();
    let admin = id(node.get("/users/me").await.is(200).data());
    let body = json!({"name": "k", "user_id": admin});
    bob.post("/keys", body).await.is(403);
    let bobs = id(bob.get("/users/me").await.is(200).data());
    let body = json!({"name": "k", "user_id": bobs});
    let made = node.post("/keys", body).await.is(200).data();
    let with_it = node.with_key(made["key"].as_str());
    assert_eq!(id(with_it.get("/users/me").await.is(200).data()), bobs);
}
