//! Two users of one node: the workflows of one are not there for the other.

use headwater_integration::{Client, Method, Node};
use serde_json::{Value, json};

use super::{Folder, HTTP, until, waiting};

/// Everything that answers about a workflow, and about a run.
const OF_A_WORKFLOW: &[(&str, &str)] = &[
    ("GET", ""),
    ("PATCH", ""),
    ("POST", "/run"),
    ("GET", "/runs"),
    ("GET", "/runs?status=waiting"),
    ("GET", "/event_summaries"),
    ("GET", "/$errors/event_summaries"),
    ("GET", "/sse"),
    ("DELETE", ""),
];
const OF_A_RUN: &[(&str, &str)] = &[
    ("GET", ""),
    ("POST", "/replay"),
    ("POST", "/cancel"),
    ("POST", "/resume"),
];

async fn answers(client: &Client, path: &str, calls: &[(&str, &str)]) -> Vec<u16> {
    let mut answers = Vec::new();
    for (method, rest) in calls {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = client.request(method, &format!("{path}{rest}"));
        answers.push(client.send(request).await.status);
    }
    answers
}

async fn sees_nothing(client: &Client, workflow: &str, run: &str) {
    let unseen = answers(client, workflow, OF_A_WORKFLOW).await;
    assert_eq!(unseen, vec![404; OF_A_WORKFLOW.len()]);
    let unseen = answers(client, run, OF_A_RUN).await;
    assert_eq!(unseen, vec![404; OF_A_RUN.len()]);
}

#[tokio::test]
async fn what_a_user_has_is_not_there_for_another() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let folder = Folder::new(HTTP, &[("ask", "$.flow.suspend();")]);
    let workflow = folder.deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    sees_nothing(&bob, &workflow.path(), &run).await;
    let listed = bob.get("/workflows").await.is(200).items();
    assert_eq!(listed, [Value::Null; 0]);

    // The state file names the workflow, and does not open it.
    let state = workflow.record["state_file"].as_str().unwrap();
    let theirs = folder.with(".workflow.state", state).body();
    bob.post("/workflows", theirs).await.is(404);
    node.put("/variables/MINE", json!({"value": "1"}))
        .await
        .is(200);
    assert_eq!(
        bob.get("/variables").await.is(200).items(),
        [Value::Null; 0]
    );
    bob.delete("/variables/MINE").await.is(404);

    assert_eq!(waiting(&node, &run).await, wait);
    node.post(&format!("{run}/resume"), json!({})).await.is(200);
    until(&node, &run, "succeeded").await;
    sees_nothing(&bob, &workflow.path(), &run).await;
}

#[tokio::test]
async fn a_workspace_shares_its_workflows_with_its_members() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let id = workspace["id"].as_str().unwrap();
    let mut body = Folder::new(HTTP, &[("ask", "$.flow.suspend();")]).body();
    body["workspace_id"] = json!(id);
    bob.post("/workflows", body.clone()).await.is(403);
    bob.get(&format!("/workflows?workspace_id={id}"))
        .await
        .is(403);
    bob.get(&format!("/variables?org_id={id}")).await.is(403);
    let shared = node.post("/workflows", body).await.is(200).data();
    let members = format!("/workspaces/{id}/members");
    node.post(&members, json!({"username": "bob"}))
        .await
        .is(200);
    let listed = bob.get(&format!("/workflows?org_id={id}")).await.is(200);
    assert_eq!(listed.items()[0]["id"], shared["id"]);
    let path = format!("/workflows/{}", shared["id"].as_str().unwrap());
    let started = bob.post(&format!("{path}/run"), json!({})).await.is(200);
    let run = super::path_of(&started.data());
    waiting(&node, &run).await;
    bob.post(&format!("{run}/resume"), json!({})).await.is(200);
    until(&node, &run, "succeeded").await;
}
