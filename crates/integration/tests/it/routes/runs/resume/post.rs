//! `POST /runs/{id}/resume`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, step, until, waiting},
};

#[tokio::test]
async fn a_run_goes_on_with_the_data_that_it_is_given() {
    let node = Node::start().await;
    let steps = [
        ("ask", "$.flow.suspend();"),
        ("tell", "return steps.ask.$resume_data;"),
    ];
    let workflow = Folder::new(HTTP, &steps).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    waiting(&node, &run).await;
    let resume = format!("{run}/resume");
    let data = json!({"approved": true});
    let taken = node
        .post(&resume, json!({"data": data}))
        .await
        .is(200)
        .data();
    assert_eq!(taken, json!({"taken": true}));
    let ended = until(&node, &run, "succeeded").await;
    assert_eq!(step(&ended, "tell")["return_value"], data);
    let error = node.post(&resume, json!({})).await.is(409).error();
    assert_eq!(error["code"], "conflict");
}

#[tokio::test]
async fn of_several_waits_one_is_named() {
    let node = Node::start().await;
    let definition = "name: Orders\nsteps:\n- namespace: both\n  type: parallel\n  branches:\n\
                      \x20 - { name: a, steps: [{ namespace: left }] }\n\
                      \x20 - { name: b, steps: [{ namespace: right }] }\n";
    let ask = "$.flow.suspend();";
    let folder = Folder::new(HTTP, &[("left", ask), ("right", ask)]);
    let workflow = folder
        .with("workflow.yaml", definition)
        .deployed(&node)
        .await;
    let run = workflow.start(&node, json!({})).await;
    let resume = format!("{run}/resume");
    until(&node, &run, "waiting").await;
    let error = node.post(&resume, json!({})).await.is(409).error();
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`both.a.left`") && message.contains("`path`"),
        "{message}"
    );
    node.post(&resume, json!({"path": "both.nowhere"}))
        .await
        .is(409);
    for (path, data) in [("both.b.right", 1), ("both.a.left", 2)] {
        let body = json!({"path": path, "data": data});
        node.post(&resume, body).await.is(200);
    }
    let ended = until(&node, &run, "succeeded").await;
    assert_eq!(ended["waits"], json!([]));
}

#[tokio::test]
async fn an_unknown_run_is_not_found() {
    let node = Node::start().await;
    let path = format!("/runs/{}/resume", unknown("inv_"));
    node.post(&path, json!({})).await.is(404);
}
