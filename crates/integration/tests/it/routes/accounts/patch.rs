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

#[tokio::test]
async fn fields_that_are_given_change_and_the_others_stay() {
    let node = Node::start().await;
    let fields = json!({"k": "former", "region": "eu", "old": "x"});
    let id = node.account("shop", fields).await;
    let path = format!("/accounts/{id}");
    let code = r#"export default {
  name: "Reads", version: "0.0.1", type: "action", props: { shop: { type: "app", app: "shop" } },
  run() { return this.shop.$auth; },
};"#;
    let component = node.save(code).await;
    let run = format!("/components/{}/run", component["id"].as_str().unwrap());
    let props = json!({"configured_props": {"shop": {"authProvisionId": id}}});
    for change in [
        json!({"fields": {"k": "first", "old": null}}),
        json!({"name": "work", "fields": {"k": "new"}}),
    ] {
        let changed = node.patch(&path, change).await.is(200);
        assert!(!changed.text.contains("new"), "{}", changed.text);
    }
    let report = node.post(&run, props.clone()).await.is(200).data();
    let auth = &report["outcome"]["value"];
    assert_eq!((&auth["k"], &auth["region"]), (&json!("new"), &json!("eu")));
    assert_eq!(auth.get("old"), None, "{report}");
    assert_eq!(node.get(&path).await.is(200).data()["name"], "work");
    let told = node
        .cli(&["accounts", "update", "work", "--field", "k=newer"])
        .await
        .ok();
    assert!(!told.stdout.contains("newer"), "{}", told.stdout);
    // All or nothing.
    let half = json!({"name": " ", "fields": {"k": "half"}});
    assert_eq!(
        node.patch(&path, half).await.is(400).error()["param"],
        "name"
    );
    let half = json!({"name": "half", "fields": {}});
    node.patch(&path, half).await.is(400);
    let report = node.post(&run, props).await.is(200).data();
    assert_eq!(report["outcome"]["value"]["k"], "newer");
    assert_eq!(node.get(&path).await.is(200).data()["name"], "work");
    let empty = node.patch(&path, json!({"fields": {}})).await.is(400);
    assert_eq!(empty.error()["param"], "fields");
    let nobody = format!("/accounts/{}", unknown("apn_"));
    node.patch(&nobody, json!({"fields": {"k": "v"}}))
        .await
        .is(404);
}
