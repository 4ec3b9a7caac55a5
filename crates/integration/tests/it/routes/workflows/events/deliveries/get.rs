//! `GET /workflows/{id}/events/{event_id}/deliveries`.

use headwater_integration::{Node, Receiver};
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP},
};

#[tokio::test]
async fn an_event_of_a_workflow_leads_to_its_deliveries() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let workflow = Folder::new(HTTP, &[("emit", "$.send.emit({ n: 1 });")])
        .deployed(&node)
        .await;
    let webhook = node.webhook_for(workflow.id(), &receiver.url()).await;
    workflow.run(&node, json!({}), "succeeded").await;
    let delivered = node.deliveries_in(&webhook, "delivered", 1).await.remove(0);
    let path = format!(
        "{}/events/{}/deliveries",
        workflow.path(),
        delivered["event_id"].as_str().unwrap()
    );
    let items = node.get(&path).await.is(200).items();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["id"], delivered["id"]);
}

#[tokio::test]
async fn deliveries_of_an_unknown_event_or_workflow_are_not_found() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    node.get(&format!("{}/events/1-0/deliveries", workflow.path()))
        .await
        .is(404);
    let path = format!("/workflows/{}/events/1-0/deliveries", unknown("p_"));
    node.get(&path).await.is(404);
}
