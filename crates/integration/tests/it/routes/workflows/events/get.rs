//! `GET /workflows/{id}/events/{event_id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP},
};

#[tokio::test]
async fn an_event_of_a_workflow_is_shown_whole_as_its_raw_event() {
    let node = Node::start().await;
    let emit = "$.send.emit({ text: 'x'.repeat(2000) }, 'news');";
    let workflow = Folder::new(HTTP, &[("emit", emit)]).deployed(&node).await;
    workflow.run(&node, json!({}), "succeeded").await;
    let path = format!("{}/event_summaries", workflow.path());
    let listed = node.get(&path).await.is(200).items().remove(0);
    let id = listed["id"].as_str().unwrap();
    let path = format!("{}/events/{id}", workflow.path());
    let shown = node.get(&path).await.is(200).data();
    let data = json!({"text": "x".repeat(2000)});
    assert_eq!(shown["event"], json!({"raw_event": data}));
    assert_eq!(shown["size_bytes"], data.to_string().len());
    assert_eq!(shown["metadata"], listed["metadata"]);
    let bob = node.user("bob").await;
    bob.get(&path).await.is(404);
}

#[tokio::test]
async fn an_unknown_event_or_workflow_is_not_found() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    let error = node
        .get(&format!("{}/events/1-0", workflow.path()))
        .await
        .is(404)
        .error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("newest 100 events"), "{message}");
    let path = format!("/workflows/{}/events/1-0", unknown("p_"));
    node.get(&path).await.is(404);
}
