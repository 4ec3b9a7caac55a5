//! `GET /settings`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn an_administrator_is_told_every_option_but_no_secret() {
    let node = Node::builder()
        .flag("--retained-runs=123")
        .env("HEADWATER_S3_SECRET_KEY", "hush-of-the-bucket")
        .env("HEADWATER_S3_ACCESS_KEY", "known")
        .start()
        .await;
    let answer = node.get("/settings").await.is(200);
    assert!(
        !answer.text.contains("hush-of-the-bucket"),
        "{}",
        answer.text
    );
    let settings = answer.data();
    let settings = settings.as_array().unwrap();
    let of = |name: &str| {
        let found = settings.iter().find(|setting| setting["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {settings:?}"))
    };
    let runs = of("retained-runs");
    assert_eq!(runs["value"], "123");
    assert_eq!(runs["origin"], "flag");
    let secret = of("s3-secret-key");
    assert_eq!(secret["value"], json!(null));
    assert_eq!(secret["is_secret"], true);
    assert_eq!(secret["origin"], "environment");
    let unset = of("retained-events");
    assert_eq!(unset["origin"], "default");
    assert!(unset["default"].is_string(), "{unset}");
}

#[tokio::test]
async fn others_are_told_nothing_of_the_node() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let error = bob.get("/settings").await.is(403).error();
    assert_eq!(error["code"], "forbidden");
}
