//! `POST /runs/{id}/replay`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, Workflow, path_of, step, until, waiting},
};

/// A run of it fails at the second of three steps.
async fn failing(node: &Node) -> (Workflow, String) {
    let steps = [
        ("roll", "return Math.random();"),
        ("broken", "throw new Error('not yet');"),
        ("tell", "return steps.broken.$return_value;"),
    ];
    let workflow = Folder::new(HTTP, &steps).deployed(node).await;
    let run = workflow.start(node, json!({"id": 7})).await;
    until(node, &run, "failed").await;
    (workflow, run)
}

/// Deploys the workflow with its second step mended.
async fn mended(node: &Node, workflow: &Workflow) -> Workflow {
    let steps = [
        ("roll", "return 'rolled again';"),
        (
            "broken",
            "return ['mended', steps.roll.$return_value, $.context.replay];",
        ),
        ("tell", "return steps.broken.$return_value;"),
    ];
    let state = workflow.record["state_file"].as_str().unwrap();
    Folder::new(HTTP, &steps)
        .with(".workflow.state", state)
        .deployed(node)
        .await
}

#[tokio::test]
async fn a_replay_from_a_step_uses_the_results_before_it() {
    let node = Node::start().await;
    let (workflow, failed) = failing(&node).await;
    let mended = mended(&node, &workflow).await;
    let replay = format!("{failed}/replay");
    let body = json!({"from": "broken", "dry_run": true});
    let plan = node.post(&replay, body).await.is(200).data();
    let deployment = &mended.record["deployment_id"];
    let expected = json!({"id": null, "deployment_id": deployment, "skips": ["roll"]});
    assert_eq!(plan, expected);
    assert_eq!(workflow.ended(&node, 1).await.len(), 1);

    let started = node
        .post(&replay, json!({"from": "broken"}))
        .await
        .is(200)
        .data();
    assert_eq!(started["skips"], json!(["roll"]));
    let run = until(&node, &path_of(&started), "succeeded").await;
    let first = node.get(&failed).await.is(200).data();
    let rolled = &step(&first, "roll")["return_value"];
    assert!(rolled.is_number(), "{first:#}");
    assert_eq!(&step(&run, "roll")["return_value"], rolled);
    assert_eq!(
        step(&run, "tell")["return_value"],
        json!(["mended", rolled, true])
    );
    let listed = workflow.ended(&node, 2).await;
    let listed = listed.iter().find(|listed| listed["id"] == run["id"]);
    assert_eq!(listed.unwrap()["replay_of"], first["id"]);
    for (field, expected) in [
        ("trigger", &json!("replay")),
        ("replay_of", &first["id"]),
        ("trace_id", &first["trace_id"]),
        ("event", &json!({"id": 7})),
        ("deployment_id", deployment),
    ] {
        assert_eq!(&run[field], expected, "{field}: {run:#}");
    }
}

#[tokio::test]
async fn a_replay_follows_the_deployment_that_is_asked_for() {
    let node = Node::start().await;
    let (workflow, failed) = failing(&node).await;
    mended(&node, &workflow).await;
    let replay = format!("{failed}/replay");
    let same = node
        .post(&replay, json!({"deployment": "same"}))
        .await
        .is(200)
        .data();
    assert_eq!(same["deployment_id"], workflow.record["deployment_id"]);
    assert_eq!(same["skips"], json!([]));
    until(&node, &path_of(&same), "failed").await;
    let latest = node
        .post(&replay, json!({"deployment": "latest"}))
        .await
        .is(200)
        .data();
    let run = until(&node, &path_of(&latest), "succeeded").await;
    assert_eq!(step(&run, "roll")["return_value"], "rolled again");
}

#[tokio::test]
async fn what_cannot_be_replayed_is_told() {
    let node = Node::start().await;
    let (_, failed) = failing(&node).await;
    let replay = format!("{failed}/replay");
    for (body, status, told) in [
        (json!({"from": "tell"}), 409, "tell"),
        (json!({"from": "nowhere"}), 409, "nowhere"),
        (json!({"from": "a..b"}), 400, "a..b"),
        (json!({"deployment": "next"}), 400, "`same`"),
    ] {
        let error = node.post(&replay, body).await.is(status).error();
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
    }
    let asking = Folder::new(HTTP, &[("ask", "$.flow.suspend();")])
        .deployed(&node)
        .await;
    let open = asking.start(&node, json!({})).await;
    waiting(&node, &open).await;
    let error = node
        .post(&format!("{open}/replay"), json!({}))
        .await
        .is(409)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("has not ended"),
        "{error}"
    );
    let unknown = format!("/runs/{}/replay", unknown("inv_"));
    node.post(&unknown, json!({})).await.is(404);
}
