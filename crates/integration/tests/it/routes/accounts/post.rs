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

#[tokio::test]
async fn fields_are_those_of_an_app_in_the_catalog() {
    let node = Node::start().await;
    for (app, fields, param) in [
        ("apify", json!({"api_key": "k"}), "fields.api_token"),
        (
            "apify",
            json!({"api_token": "k", "other": "x"}),
            "fields.other",
        ),
        ("apify", json!({"api_token": ["k"]}), "fields.api_token"),
        (
            "shopify",
            json!({"shop_id": "s"}),
            "fields.oauth_access_token",
        ),
        (
            "shopify",
            json!({"oauth_access_token": "t"}),
            "fields.shop_id",
        ),
    ] {
        let answer = node.post("/accounts", json!({"app": app, "fields": fields}));
        let error = answer.await.is(400).error();
        assert_eq!(error["param"], param, "{app} {fields}: {error}");
    }
    node.account("apify", json!({"api_token": "k"})).await;
    let shop = json!({"shop_id": "s", "oauth_access_token": "t", "oauth_uid": "u"});
    node.account("shopify", shop).await;
}
