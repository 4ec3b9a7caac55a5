//! `GET /accounts/{id}/users`.

use headwater_integration::{Client, Node};
use serde_json::{Value, json};

use crate::{
    code::{USES_ACCOUNT, unknown},
    workflows::{Folder, HTTP},
};

const STEP: &str =
    "export default { props: { shop: { type: 'app', app: 'shop' } }, async run() { return 1; } };";

/// A workflow whose step uses the account.
async fn workflow(node: &Client, account: &str) -> String {
    let folder = Folder::new(HTTP, &[("ask", "")]).with("ask/entry.js", STEP);
    let definition = folder.0["workflow.yaml"].replace(
        "- namespace: ask\n",
        &format!("- namespace: ask\n  props:\n    shop: {{ authProvisionId: {account} }}\n"),
    );
    let folder = folder.with("workflow.yaml", &definition);
    folder.deployed(node).await.id().to_owned()
}

async fn users(node: &Client, account: &str) -> Vec<Value> {
    let path = format!("/accounts/{account}/users");
    node.get(&path).await.is(200).items()
}

#[tokio::test]
async fn sources_and_workflows_that_use_an_account_are_listed_with_their_last_success() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let other = node.account("shop", json!({"api_key": "k"})).await;
    let props = json!({"shop": {"authProvisionId": account}});
    let source = node.deploy(USES_ACCOUNT, props).await;
    let workflow = workflow(&node, &account).await;
    let all = users(&node, &account).await;
    assert_eq!(
        all,
        [
            json!({"source_id": source.id, "name": "uses", "props": ["shop"], "succeeded_at_ms": null}),
            json!({"workflow_id": workflow, "name": "Orders", "props": ["ask.shop"], "succeeded_at_ms": null}),
        ]
    );
    assert_eq!(users(&node, &other).await, [Value::Null; 0]);
    node.run(&source, json!({})).await;
    assert!(users(&node, &account).await[0]["succeeded_at_ms"].is_u64());
    node.run(&source, json!({"fails": true})).await;
    assert!(users(&node, &account).await[0]["succeeded_at_ms"].is_null());
    let page = format!("/accounts/{account}/users?limit=1");
    let page = node.get(&page).await.is(200).json();
    assert_eq!(page["page_info"]["total_count"], 2);
    assert_eq!(
        page["page_info"].get("is_partial"),
        None,
        "all were looked at"
    );

    let shown = node.cli(&["accounts", "users", &account]).await.ok();
    for part in ["uses", "ask.shop", &workflow] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let unknown = format!("/accounts/{}/users", unknown("apn_"));
    node.get(&unknown).await.is(404);
    let stranger = node.user("stranger").await;
    let path = format!("/accounts/{account}/users");
    stranger.get(&path).await.is(404);
}
