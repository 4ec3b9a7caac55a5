//! `POST /accounts`.

use headwater_integration::Node;
use serde_json::{Value, json};

#[tokio::test]
async fn an_account_is_made_and_its_credentials_are_not_shown() {
    let node = Node::start().await;
    let body = json!({"app": "shop", "name": "work", "fields": {"api_key": "sesame-open-up"}});
    let answer = node.post("/accounts", body).await.is(200);
    let account = answer.data();
    assert!(
        account["id"].as_str().unwrap().starts_with("apn_"),
        "{account}"
    );
    assert_eq!(
        (&account["app"], &account["name"]),
        (&json!("shop"), &json!("work"))
    );
    assert!(account["created_at"].is_u64(), "{account}");
    assert!(!answer.text.contains("sesame"), "{}", answer.text);
    let unnamed = node
        .post("/accounts", json!({"app": "shop", "fields": {"k": "v"}}))
        .await
        .is(200)
        .data();
    assert_eq!(unnamed["name"], "shop");
}

#[tokio::test]
async fn app_and_fields_are_required() {
    let node = Node::start().await;
    for (body, param) in [
        (json!({"fields": {"k": "v"}}), "app"),
        (json!({"app": " ", "fields": {"k": "v"}}), "app"),
        (json!({"app": "shop"}), "fields"),
        (json!({"app": "shop", "fields": {}}), "fields"),
        (json!({"app": "shop", "fields": ["k"]}), "fields"),
    ] {
        let error = node.post("/accounts", body.clone()).await.is(400).error();
        assert_eq!(error["param"], param, "{body}");
    }
    assert_eq!(
        node.get("/accounts").await.is(200).items(),
        [Value::Null; 0]
    );
}
