//! `GET /sources/{id}/events/{event_id}/deliveries`.

use headwater_integration::{Node, Receiver};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn an_event_leads_to_its_deliveries_also_when_it_is_gone() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut webhooks = Vec::new();
    for _ in 0..2 {
        webhooks.push(node.webhook_for(&source.id, &receiver.url()).await);
    }
    node.run(&source, json!({"emits": [["tea", {}], ["milk", {}]]}))
        .await;
    for webhook in &webhooks {
        node.deliveries_in(webhook, "delivered", 2).await;
    }
    let id = node.events(&source).await.remove(0)["id"].take();
    let path = format!(
        "{}/events/{}/deliveries",
        source.path(),
        id.as_str().unwrap()
    );
    let page = node.get(&path).await.is(200);
    let mut to: Vec<_> = page
        .items()
        .iter()
        .map(|one| one["webhook_id"].as_str().unwrap().to_owned())
        .collect();
    to.reverse();
    assert_eq!(to, webhooks);
    assert!(page.items().iter().all(|one| one["event"] == "tea"));
    assert_eq!(page.json()["page_info"]["total_count"], 2);
    let first = node.get(&format!("{path}?limit=1")).await.is(200);
    assert_eq!(first.items(), page.items()[..1]);
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    assert_eq!(node.get(&path).await.is(200).items().len(), 2);
    let bob = node.user("bob").await;
    bob.get(&path).await.is(404);
}

#[tokio::test]
async fn an_event_without_deliveries_has_none_and_an_unknown_one_is_not_found() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [["tea", {}]]})).await;
    let id = node.events(&source).await.remove(0)["id"].take();
    let path = format!(
        "{}/events/{}/deliveries",
        source.path(),
        id.as_str().unwrap()
    );
    assert_eq!(node.get(&path).await.is(200).items(), [Value::Null; 0]);
    for path in [
        format!("{}/events/1-0/deliveries", source.path()),
        format!("/sources/{}/events/1-0/deliveries", unknown("dc_")),
    ] {
        node.get(&path).await.is(404);
    }
}
