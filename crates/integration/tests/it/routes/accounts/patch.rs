//! `PATCH /accounts/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn a_renamed_account_is_found_by_its_new_name() {
    let node = Node::start().await;
    let id = node.account("shop", json!({"k": "v"})).await;
    let path = format!("/accounts/{id}");
    let before = node.get(&path).await.is(200).data();
    let renamed = node.patch(&path, json!({"name": " work "})).await.is(200);
    let mut wanted = before;
    wanted["name"] = "work".into();
    let mut renamed = renamed.data();
    renamed["updated_at"] = wanted["updated_at"].clone();
    assert_eq!(renamed, wanted);
    for wrong in [
        json!({}),
        json!({"name": " "}),
        json!({"name": "x".repeat(257)}),
    ] {
        let error = node.patch(&path, wrong).await.is(400).error();
        assert_eq!(error["param"], "name");
    }
    let told = node.cli(&["accounts", "rename", "work", "home"]).await.ok();
    assert!(told.stdout.contains("home"), "{}", told.stdout);
    assert_eq!(node.get(&path).await.is(200).data()["name"], "home");
    let nobody = format!("/accounts/{}", unknown("apn_"));
    node.patch(&nobody, json!({"name": "a"})).await.is(404);
}
