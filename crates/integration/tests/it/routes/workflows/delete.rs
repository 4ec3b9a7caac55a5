//! `DELETE /workflows/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::workflows::{Folder, HTTP, waiting};

#[tokio::test]
async fn a_deleted_workflow_is_gone_with_its_runs_and_endpoints() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("ask", "$.flow.suspend();")])
        .deployed(&node)
        .await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    let path = format!("/workflows/{}", workflow.id());
    node.delete(&path).await.is(204);
    for gone in [&path, &run, &format!("{path}/runs")] {
        node.get(gone).await.is(404);
    }
    node.get(workflow.endpoint()).await.is(404);
    let answered = node.get(wait["resume_url"].as_str().unwrap()).await;
    assert!(matches!(answered.status, 404 | 410), "{}", answered.text);
    node.delete(&path).await.is(404);
    assert!(node.get("/workflows").await.is(200).items().is_empty());
}

#[tokio::test]
async fn the_sources_of_its_triggers_go_with_it() {
    let node = Node::start().await;
    let source = "export default { name: 'Ticks', version: '0.0.1', key: 'ticks', type: 'source', run() { this.$emit(1); } };";
    let triggers = "- type: source\n  uses: ./ticks.js\n";
    let folder = Folder::new(triggers, &[("one", "return 1;")]).with("ticks.js", source);
    let workflow = folder.deployed(&node).await;
    let source = workflow.record["triggers"][0]["source_id"]
        .as_str()
        .unwrap();
    let source = format!("/sources/{source}");
    node.post(&format!("{source}/run"), json!({})).await.is(200);
    workflow.ended(&node, 1).await;
    let path = format!("/workflows/{}", workflow.id());
    node.delete(&path).await.is(204);
    node.get(&source).await.is(404);
}
