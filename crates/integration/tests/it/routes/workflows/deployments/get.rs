//! `GET /workflows/{id}/deployments` and `GET /workflows/{id}/deployments/{deployment_id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::{
    code::unknown,
    workflows::{Folder, HTTP},
};

const NESTED: &str = r#"
name: Orders
triggers:
- type: http
steps:
- namespace: route
  type: ifelse
  branches:
  - name: large
    if: { op: number_greater, a: "{{steps.trigger.event.total}}", b: 10 }
    steps:
    - namespace: one
      props: { who: "{{steps.trigger.event.name}}", password: hunter2 }
      retry: { attempts: 3 }
"#;
const SECRET: &str = "export default { props: { who: { type: 'string' }, \
    password: { type: 'string', secret: true } }, run() {} };";

#[tokio::test]
async fn deployments_are_listed_and_shown_with_their_steps_without_secrets() {
    let node = Node::start().await;
    let first = Folder::new(HTTP, &[("one", "return 1;")]);
    let workflow = first.deployed(&node).await;
    let state = workflow.record["state_file"].as_str().unwrap();
    let second = Folder::new(HTTP, &[])
        .with("workflow.yaml", NESTED)
        .with("one/entry.js", SECRET)
        .with(".workflow.state", state);
    let current = second.deployed(&node).await.record["deployment_id"].clone();
    let path = format!("{}/deployments", workflow.path());
    let listed = node.get(&path).await.is(200).items();
    let currents: Vec<&Value> = listed.iter().map(|one| &one["current"]).collect();
    assert_eq!(currents, [false, true]);
    assert_eq!(listed[0]["id"], workflow.record["deployment_id"]);
    assert_eq!(listed[1]["id"], current);

    let of_one = format!("{path}/{}", current.as_str().unwrap());
    let shown = node.get(&of_one).await.is(200).data();
    assert_eq!(shown["files"], json!(["one/entry.js", "workflow.yaml"]));
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(
        steps[0]["branches"],
        json!([{ "name": "large", "if": "{{steps.trigger.event.total}} number_greater 10" }])
    );
    let one = &steps[1];
    assert_eq!(
        (&one["path"], &one["parent"], &one["branch"]),
        (&json!("route.large.one"), &json!("route"), &json!("large"))
    );
    assert_eq!(
        one["settings"],
        json!({ "who": "{{steps.trigger.event.name}}", "password": null })
    );
    assert_eq!(one["secrets"], json!(["password"]));
    assert_eq!(one["attempts"], 3);
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_deployment_of_another_workflow_is_not_found() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[]);
    let (one, other) = (folder.deployed(&node).await, folder.deployed(&node).await);
    let foreign = other.record["deployment_id"].as_str().unwrap();
    for id in [foreign.to_owned(), unknown("d_"), "nonsense".to_owned()] {
        let path = format!("{}/deployments/{id}", one.path());
        let error = node.get(&path).await.is(404).error();
        assert_eq!(error["message"], format!("there is no deployment `{id}`"));
    }
    let path = format!("/workflows/{}/deployments", unknown("p_"));
    node.get(&path).await.is(404);
}
