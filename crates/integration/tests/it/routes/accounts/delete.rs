//! `DELETE /accounts/{id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::unknown;

#[tokio::test]
async fn a_deleted_account_is_gone() {
    let node = Node::start().await;
    let id = node.account("shop", json!({"k": "v"})).await;
    let deleted = node.delete(&format!("/accounts/{id}")).await.is(200).data();
    assert_eq!(deleted, json!({"id": id, "revocation": "not_supported"}));
    assert_eq!(
        node.get("/accounts").await.is(200).items(),
        [Value::Null; 0]
    );
    node.delete(&format!("/accounts/{id}")).await.is(404);
    node.delete(&format!("/accounts/{}", unknown("apn_")))
        .await
        .is(404);
    node.delete("/accounts/nonsense").await.is(404);
}

#[tokio::test]
async fn a_source_whose_account_is_gone_says_so() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "With account",
  version: "0.0.1",
  props: { shop: { type: "app", app: "shop" } },
  run() { this.$emit(this.shop.$auth.k); },
};
"#;
    let account = node.account("shop", json!({"k": "v"})).await;
    let source = node
        .deploy(code, json!({"shop": {"authProvisionId": account}}))
        .await;
    node.delete(&format!("/accounts/{account}")).await.is(200);
    let answer = node
        .post(&format!("{}/run", source.path()), json!({}))
        .await;
    assert!(
        answer.text.contains(&account),
        "{} {}",
        answer.status,
        answer.text
    );
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
    // It can be given another one.
    let account = node.account("shop", json!({"k": "w"})).await;
    let body = json!({"configured_props": {"shop": {"authProvisionId": account}}});
    node.patch(&source.path(), body).await.is(200);
    node.run(&source, json!({})).await;
    assert_eq!(node.events(&source).await[0]["event"], "w");
}
