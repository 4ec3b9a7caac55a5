//! `POST /workflows/{id}/roll_back`: the files of a former deployment become a new one.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, Workflow, until, waiting},
};

/// The deployment of another folder for the same workflow.
async fn deployed_again(node: &Node, workflow: &Workflow, folder: Folder) -> Workflow {
    let state = workflow.record["state_file"].as_str().unwrap();
    let again = folder.with(".workflow.state", state).deployed(node).await;
    assert_eq!(again.id(), workflow.id());
    again
}

fn answer(run: &Value) -> &Value {
    let steps = run["steps"].as_array().unwrap();
    &steps.last().unwrap()["return_value"]
}

#[tokio::test]
async fn files_of_before_are_deployed_again_and_runs_go_on_with_theirs() {
    let mut node = Node::builder().own_address().start().await;
    let steps = [("ask", "$.flow.suspend();"), ("tell", "return 'first';")];
    let first = Folder::new(HTTP, &steps).deployed(&node).await;
    let steps = [("ask", "$.flow.suspend();"), ("tell", "return 'second';")];
    let second = deployed_again(&node, &first, Folder::new(HTTP, &steps)).await;
    let begun = first.start(&node, json!({})).await;
    waiting(&node, &begun).await;

    let path = format!("{}/roll_back", first.path());
    let former = json!({"deployment_id": first.record["deployment_id"]});
    let back = node.post(&path, former).await.is(200).data();
    assert_eq!(back["id"], first.record["id"]);
    assert_eq!(back["triggers"], second.record["triggers"]);
    assert_eq!(back["state_file"], first.record["state_file"]);
    node.kill_9();
    node.restart().await;
    let listed = format!("{}/deployments", first.path());
    let listed = node.get(&listed).await.is(200).items();
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[2]["id"], back["deployment_id"]);
    assert_eq!(
        (&listed[2]["restores"], &listed[2]["current"]),
        (&first.record["deployment_id"], &json!(true))
    );
    assert!(listed[1].get("restores").is_none(), "{}", listed[1]);

    let run = first.start(&node, json!({})).await;
    waiting(&node, &run).await;
    for (run, told) in [(&begun, "second"), (&run, "first")] {
        node.post(&format!("{run}/resume"), json!({})).await.is(200);
        assert_eq!(answer(&until(&node, run, "succeeded").await), told);
    }
}

#[tokio::test]
async fn triggers_stay_off_and_those_that_were_gone_come_back() {
    let node = Node::start().await;
    let step = [("one", "return 1;")];
    let first = Folder::new(HTTP, &step).deployed(&node).await;
    let second = deployed_again(&node, &first, Folder::new("  []\n", &step)).await;
    assert_eq!(second.record["triggers"], json!([]));
    let off = json!({"active": false});
    node.patch(&first.path(), off).await.is(200);
    let path = format!("{}/roll_back", first.path());
    let former = json!({"deployment_id": first.record["deployment_id"]});
    let back = node.post(&path, former).await.is(200).data();
    assert_eq!(back["active"], false);
    let back = Workflow { record: back };
    assert_eq!(
        back.record["triggers"][0]["id"],
        first.record["triggers"][0]["id"]
    );
    assert_ne!(back.endpoint(), first.endpoint());
    node.get(back.endpoint()).await.is(404);
    node.patch(&first.path(), json!({"active": true}))
        .await
        .is(200);
    node.get(back.endpoint()).await.is(200);
}

#[tokio::test]
async fn the_current_deployment_and_unknown_ones_are_refused() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("one", "return 1;")]);
    let workflow = folder.deployed(&node).await;
    let other = folder.deployed(&node).await;
    let path = format!("{}/roll_back", workflow.path());
    let present = json!({"deployment_id": workflow.record["deployment_id"]});
    let error = node.post(&path, present.clone()).await.is(409).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("name a former one"), "{message}");
    for id in [
        other.record["deployment_id"].as_str().unwrap().to_owned(),
        unknown("d_"),
    ] {
        node.post(&path, json!({"deployment_id": id})).await.is(404);
    }
    let malformed = json!({"deployment_id": "nonsense"});
    let error = node.post(&path, malformed).await.is(400).error();
    assert_eq!(error["param"], "deployment_id");
    let bob = node.user("bob").await;
    bob.post(&path, present.clone()).await.is(404);
    let path = format!("/workflows/{}/roll_back", unknown("p_"));
    node.post(&path, present).await.is(404);
}
