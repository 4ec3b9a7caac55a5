//! `GET /keys`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn keys_are_listed_with_their_last_use_and_never_shown() {
    let node = Node::start().await;
    let made = node.post("/keys", json!({"name": "laptop"})).await.is(200);
    let secret = made.data()["key"].as_str().unwrap().to_owned();
    let answer = node.get("/keys").await.is(200);
    assert!(!answer.text.contains("hw_"), "{}", answer.text);
    let keys = answer.items();
    assert_eq!(
        (&keys[0]["name"], &keys[1]["name"]),
        (&json!("first"), &json!("laptop"))
    );
    assert!(keys[0]["last_used_at"].is_u64(), "{keys:?}");
    assert!(keys[1]["last_used_at"].is_null(), "{keys:?}");
    let with_it = node.with_key(Some(&secret));
    let keys = with_it.get("/keys").await.is(200).items();
    assert!(keys[1]["last_used_at"].is_u64(), "{keys:?}");
    let page = node.get("/keys?limit=1").await.is(200);
    assert_eq!(page.json()["page_info"]["total_count"], 2);
}

#[tokio::test]
async fn everybody_lists_its_own_and_the_administrator_anybodys() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    assert_eq!(bob.get("/keys").await.is(200).items().len(), 1);
    let mine = node.get("/users/me").await.is(200).data()["id"].take();
    let path = format!("/keys?user_id={}", mine.as_str().unwrap());
    bob.get(&path).await.is(403);
    let bobs = bob.get("/users/me").await.is(200).data()["id"].take();
    let path = format!("/keys?user_id={}", bobs.as_str().unwrap());
    let keys = node.get(&path).await.is(200).items();
    assert_eq!(keys[0]["user_id"], bobs);
}
