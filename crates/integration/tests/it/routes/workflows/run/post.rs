//! `POST /workflows/{id}/run`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, path_of, step, until},
};

#[tokio::test]
async fn a_run_begins_with_the_event_that_it_is_given() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("one", "return steps.trigger.event;")]);
    let workflow = folder.deployed(&node).await;
    let path = format!("/workflows/{}/run", workflow.id());
    for (body, event) in [
        (json!({"event": {"id": 7}}), json!({"id": 7})),
        (json!({"event": "text"}), json!("text")),
        (json!({}), json!({})),
    ] {
        let started = node.post(&path, body).await.is(200).data();
        assert_eq!(started.as_object().unwrap().len(), 1, "{started}");
        let run = until(&node, &path_of(&started), "succeeded").await;
        assert_eq!((&run["event"], &run["trigger"]), (&event, &json!("manual")));
        assert_eq!(step(&run, "one")["return_value"], event);
    }
}

#[tokio::test]
async fn an_unknown_workflow_does_not_run() {
    let node = Node::start().await;
    let path = format!("/workflows/{}/run", unknown("p_"));
    node.post(&path, json!({})).await.is(404);
}

#[tokio::test]
async fn a_workflow_whose_triggers_are_off_runs_by_hand() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    node.patch(&workflow.path(), json!({"active": false}))
        .await
        .is(200);
    let path = format!("/workflows/{}/run", workflow.id());
    let started = node.post(&path, json!({})).await.is(200).data();
    until(&node, &path_of(&started), "succeeded").await;
}
