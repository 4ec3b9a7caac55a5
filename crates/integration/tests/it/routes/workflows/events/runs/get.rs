//! `GET /workflows/{id}/events/{event_id}/runs`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::{
    code::unknown,
    workflows::{Folder, HTTP},
};

const ECHO: &str = r#"
export default {
  name: "Echo",
  version: "0.0.1",
  run(event) {
    this.$emit(event);
  },
};
"#;

#[tokio::test]
async fn an_event_of_a_workflow_leads_to_the_runs_of_its_listeners() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("emit", "$.send.emit({ n: 1 });")])
        .deployed(&node)
        .await;
    let listener = node.deploy(ECHO, json!({})).await;
    node.subscribe(workflow.id(), &listener.id, "").await;
    workflow.run(&node, json!({}), "succeeded").await;
    let path = format!("{}/event_summaries", workflow.path());
    let id = node.get(&path).await.is(200).items().remove(0)["id"].take();
    let path = format!("{}/events/{}/runs", workflow.path(), id.as_str().unwrap());
    let succeeded = |runs: &[Value]| runs.len() == 1 && runs[0]["status"] == "succeeded";
    let runs = node.list_until(&format!("{path}?"), succeeded).await;
    assert_eq!(runs[0]["listener_id"], *listener.id);
}

#[tokio::test]
async fn runs_of_an_unknown_event_or_workflow_are_not_found() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    node.get(&format!("{}/events/1-0/runs", workflow.path()))
        .await
        .is(404);
    let path = format!("/workflows/{}/events/1-0/runs", unknown("p_"));
    node.get(&path).await.is(404);
}
