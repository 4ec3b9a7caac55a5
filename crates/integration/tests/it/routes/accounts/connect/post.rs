//! `POST /accounts/connect` and `POST /accounts/{id}/connect`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn a_link_leads_to_the_node_and_is_short_lived() {
    let node = Node::start().await;
    let link = node
        .post("/accounts/connect", json!({"app": "apify", "name": "work"}))
        .await
        .is(200)
        .data();
    let url = link["url"].as_str().unwrap();
    let expected = format!("{}/connect/apify?token=", node.url());
    assert!(url.starts_with(&expected), "{url}");
    assert!(link["id"].as_str().unwrap().starts_with("cn_"), "{link}");
    let now_at = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs();
    let left = link["expires_at"].as_u64().unwrap() - now_at;
    assert!((1..=600).contains(&left), "{left}");
}

#[tokio::test]
async fn what_cannot_be_connected_is_refused_at_once() {
    let node = Node::start().await;
    for (body, param) in [
        (json!({}), "app"),
        (json!({"app": "no-such-app"}), "app"),
        (
            json!({"app": "apify", "fields": {"key": "k"}}),
            "fields.key",
        ),
        (
            json!({"app": "apify", "fields": {"api_token": {}}}),
            "fields.api_token",
        ),
    ] {
        let error = node
            .post("/accounts/connect", body.clone())
            .await
            .is(400)
            .error();
        assert_eq!(error["param"], param, "{body}: {error}");
    }
    // Nobody has named the node's client there.
    let error = node
        .post("/accounts/connect", json!({"app": "github"}))
        .await;
    let message = error.is(409).error()["message"].to_string();
    assert!(message.contains("/connect/github/callback"), "{message}");
}

#[tokio::test]
async fn a_value_that_names_another_host_is_refused() {
    let apps = "[shopify.oauth2]\nclient_id = \"c\"\nclient_secret = \"s\"\n";
    let node = Node::builder().file("apps/own.toml", apps).start().await;
    for shop in ["evil.example/", "evil.example#", "a.b", "a@b"] {
        let body = json!({"app": "shopify", "fields": {"shop_id": shop}});
        let error = node.post("/accounts/connect", body).await.is(400).error();
        assert_eq!(error["param"], "fields.shop_id", "{shop}: {error}");
    }
    let body = json!({"app": "shopify", "fields": {"shop_id": "my-shop"}});
    node.post("/accounts/connect", body).await.is(200);
}

#[tokio::test]
async fn an_account_of_an_app_that_the_node_does_not_know_is_not_connected_again() {
    let node = Node::start().await;
    let id = node.account("shop", json!({"k": "v"})).await;
    let path = format!("/accounts/{id}/connect");
    let refused = node.post(&path, json!({})).await.is(409).error();
    let told = refused["message"].as_str().unwrap();
    assert!(told.contains("`shop` is not in the catalog"), "{told}");
    let unknown = unknown("apn_");
    let path = format!("/accounts/{unknown}/connect");
    node.post(&path, json!({})).await.is(404);
}
