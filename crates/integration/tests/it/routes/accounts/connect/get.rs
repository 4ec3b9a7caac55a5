//! `GET /accounts/connect/{id}`.

use headwater_integration::{Browser, Node};
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn who_waits_hears_of_the_end() {
    let apps = "[acme]\nname = \"Acme\"\nauth = \"fields\"\nfields = [{ name = \"key\" }]\n";
    let node = Node::builder().file("apps/own.toml", apps).start().await;
    let link = node
        .post("/accounts/connect", json!({"app": "acme"}))
        .await
        .is(200)
        .data();
    let id = link["id"].as_str().unwrap();
    let status = node
        .get(&format!("/accounts/connect/{id}"))
        .await
        .is(200)
        .data();
    assert_eq!(status["status"], "pending");
    let path = format!("/accounts/connect/{id}?wait_s=60");
    let waiting = node.get(&path);
    let url = link["url"].as_str().unwrap();
    let mut browser = Browser::new(&node);
    let (status, _) = tokio::join!(waiting, browser.send(url, &[("key", "k")]));
    let status = status.is(200).data();
    assert_eq!(status["status"], "connected");
    let account = status["account_id"].as_str().unwrap();
    assert_eq!(
        node.get(&format!("/accounts/{account}"))
            .await
            .is(200)
            .data()["app"],
        "acme"
    );
}

#[tokio::test]
async fn a_connect_is_its_callers_alone() {
    let node = Node::start().await;
    let link = node
        .post("/accounts/connect", json!({"app": "apify"}))
        .await
        .is(200)
        .data();
    let path = format!("/accounts/connect/{}", link["id"].as_str().unwrap());
    let ann = node.user("ann").await;
    ann.get(&path).await.is(404);
    node.get(&format!("/accounts/connect/{}", unknown("cn_")))
        .await
        .is(404);
    node.get(&format!("{path}?wait_s=soon")).await.is(400);
}
