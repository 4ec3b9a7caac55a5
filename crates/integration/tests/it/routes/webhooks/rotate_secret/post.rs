//! `POST /webhooks/{id}/rotate_secret`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

const OWN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[tokio::test]
async fn a_secret_is_replaced_by_a_new_one_or_ones_own() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let path = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let rotate = format!("{path}/rotate_secret");
    let rotated = node.post(&rotate, json!({})).await.is(200).data();
    assert!(rotated["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_ne!(rotated["secret"], webhook["secret"]);
    assert_eq!(rotated["id"], webhook["id"]);
    let rotated = node
        .post(&rotate, json!({"secret": OWN}))
        .await
        .is(200)
        .data();
    assert_eq!(rotated["secret"], OWN);
    let shown = node.get(&path).await.is(200);
    assert!(!shown.text.contains("whsec_"), "{}", shown.text);
}

#[tokio::test]
async fn what_is_no_secret_is_refused_and_not_repeated() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let rotate = format!(
        "/webhooks/{}/rotate_secret",
        webhook["id"].as_str().unwrap()
    );
    for secret in [
        "",
        "sesame-open-up",
        "whsec_c2VzYW1l",
        "whsec_sesame open up!",
    ] {
        let answer = node.post(&rotate, json!({"secret": secret})).await.is(400);
        assert_eq!(answer.error()["param"], "secret", "{secret}");
        assert!(!answer.text.contains("sesame"), "{}", answer.text);
    }
    let nobody = format!("/webhooks/{}/rotate_secret", unknown("wh_"));
    node.post(&nobody, json!({})).await.is(404);
}
