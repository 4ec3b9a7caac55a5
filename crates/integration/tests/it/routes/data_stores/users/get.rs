//! `GET /data_stores/{name}/users`.

use headwater_integration::{Client, Node};
use serde_json::{Value, json};

use crate::{
    routes::data_stores::get::write,
    workflows::{Folder, HTTP},
};

/// A step with a data store that is named by the file, by an expression, and by nothing but its default.
const COUNTS: &str = "export default {
  props: {
    seen: { type: \"data_store\" },
    other: { type: \"data_store\", optional: true },
    usual: { type: \"data_store\", default: \"orders\" },
  },
  async run() { return this.seen.size(); },
};
";

async fn users(client: &Client, path: &str) -> Vec<Value> {
    client.get(path).await.is(200).items()
}

/// A workflow whose step is so bound.
async fn workflow(node: &Client, props: &str) -> String {
    let folder = Folder::new(HTTP, &[("count", "")]).with("count/entry.js", COUNTS);
    let definition = folder.0["workflow.yaml"].replace(
        "- namespace: count\n",
        &format!("- namespace: count\n  props:\n{props}"),
    );
    let folder = folder.with("workflow.yaml", &definition);
    folder.deployed(node).await.id().to_owned()
}

#[tokio::test]
async fn sources_and_workflows_are_listed_by_the_props_that_name_the_store() {
    let node = Node::start().await;
    write(&node, "orders", None, json!({"k": 1})).await;
    write(&node, "other", None, json!({"k": 1})).await;
    let named = "    seen:\n      storeId: orders\n    other: \"{{steps.trigger.event.store}}\"\n";
    let workflow_id = workflow(&node, named).await;
    let sources = node.get("/users/me/sources").await.is(200).items();
    let all = users(&node, "/data_stores/orders/users").await;
    assert_eq!(
        all,
        [
            json!({"source_id": sources[0]["id"], "name": "writer", "props": ["store"]}),
            json!({"workflow_id": workflow_id, "name": "Orders", "props": ["count.seen", "count.usual"]}),
        ]
    );
    let page = node.get("/data_stores/orders/users?limit=1").await.is(200);
    let cursor = page.json()["page_info"]["end_cursor"].clone();
    assert_eq!(page.items(), all[..1]);
    let rest = format!(
        "/data_stores/orders/users?after={}",
        cursor.as_str().unwrap()
    );
    assert_eq!(users(&node, &rest).await, all[1..]);
    let other = users(&node, "/data_stores/other/users").await;
    assert_eq!(other.len(), 1, "{other:#?}");
    assert_eq!(other[0]["source_id"], sources[1]["id"]);
    node.get("/data_stores/unwritten/users").await.is(404);
    let shown = node.cli(&["data-stores", "users", "orders"]).await.ok();
    for part in ["writer", "count.seen, count.usual", &workflow_id] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
}

#[tokio::test]
async fn a_store_of_the_same_name_is_another_tenants_or_workspaces() {
    let node = Node::start().await;
    write(&node, "orders", None, json!({"k": 1})).await;
    let workspace = json!({"orgname": "team"});
    let workspace = node.post("/workspaces", workspace).await.is(200).data();
    let workspace = workspace["id"].as_str().unwrap();
    write(&node, "orders", Some(workspace), json!({"k": 1})).await;
    let own = users(&node, "/data_stores/orders/users").await;
    let ours = format!("/data_stores/orders/users?workspace_id={workspace}");
    let ours_listed = users(&node, &ours).await;
    assert_eq!((own.len(), ours_listed.len()), (1, 1));
    assert_ne!(own, ours_listed);
    let stranger = node.user("stranger").await;
    stranger.get("/data_stores/orders/users").await.is(404);
    stranger.get(&ours).await.is(403);
    write(&stranger, "orders", None, json!({"k": 1})).await;
    let theirs = users(&stranger, "/data_stores/orders/users").await;
    assert_eq!(theirs.len(), 1);
    assert_ne!(theirs, own);
}
