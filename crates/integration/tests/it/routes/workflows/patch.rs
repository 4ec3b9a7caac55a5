//! `PATCH /workflows/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::workflows::{Folder, HTTP};

#[tokio::test]
async fn an_inactive_workflow_takes_no_requests_until_it_is_active_again() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    let path = format!("/workflows/{}", workflow.id());
    let off = node
        .patch(&path, json!({"active": false}))
        .await
        .is(200)
        .data();
    assert_eq!(
        (&off["id"], &off["active"]),
        (&json!(workflow.id()), &json!(false))
    );
    node.get(workflow.endpoint()).await.is(404);
    let unchanged = node.patch(&path, json!({})).await.is(200).data();
    assert_eq!(unchanged["active"], false);
    let on = node
        .patch(&path, json!({"active": "true"}))
        .await
        .is(200)
        .data();
    assert_eq!(on["active"], true);
    node.get(workflow.endpoint()).await.is(200);
    workflow.ended(&node, 1).await;
    let wrong = node.patch(&path, json!({"active": "maybe"})).await.is(400);
    assert_eq!(wrong.error()["param"], "active");
}

#[tokio::test]
async fn a_run_that_has_begun_goes_on_in_an_inactive_workflow() {
    let node = Node::start().await;
    let steps = [("ask", "$.flow.suspend();"), ("tell", "return 'told';")];
    let workflow = Folder::new(HTTP, &steps).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    crate::workflows::waiting(&node, &run).await;
    let path = format!("/workflows/{}", workflow.id());
    node.patch(&path, json!({"active": false})).await.is(200);
    node.post(&format!("{run}/resume"), json!({})).await.is(200);
    crate::workflows::until(&node, &run, "succeeded").await;
}
