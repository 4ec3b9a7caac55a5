//! `POST /deliveries/{id}/retry` and `POST /deliveries/retry`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

fn attempts(delivery: &Value) -> usize {
    delivery["attempts"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_delivery_is_attempted_at_once_whatever_its_state() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::status(500));
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [["hello", {}]]})).await;
    let failed = |all: &[Value]| all.len() == 1 && attempts(&all[0]) == 1;
    let failed = node.deliveries_until(&id, failed).await.remove(0);
    let retry = format!("/deliveries/{}/retry", failed["id"].as_str().unwrap());

    receiver.answer(|_| Reply::status(204));
    let answered = node.post(&retry, json!({})).await.is(200).data();
    assert_eq!(
        (&answered["id"], &answered["event"]),
        (&failed["id"], &json!("hello"))
    );
    let delivered = node.deliveries_in(&id, "delivered", 1).await.remove(0);
    assert_eq!(attempts(&delivered), 2);
    assert_eq!(delivered["next_attempt_at_ms"], Value::Null);
    node.post(&retry, json!({})).await.is(200);
    let again = |all: &[Value]| attempts(&all[0]) == 3 && all[0]["state"] == "delivered";
    node.deliveries_until(&id, again).await;
    let ids: Vec<_> = receiver
        .received()
        .iter()
        .map(|request| request.headers["webhook-id"].clone())
        .collect();
    assert_eq!(ids, [&ids[0]; 3]);
}

#[tokio::test]
async fn nothing_is_retried_at_an_inactive_webhook() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node
        .webhook_for(&source.id, "http://receiver.invalid")
        .await;
    node.run(&source, json!({"emits": [["hello", {}]]})).await;
    node.deliveries_until(&id, |all| all.len() == 1).await;
    let webhook = format!("/webhooks/{id}");
    node.patch(&webhook, json!({"active": false})).await.is(200);
    let dead = node.deliveries_in(&id, "dead", 1).await.remove(0);
    let retry = format!("/deliveries/{}/retry", dead["id"].as_str().unwrap());
    let error = node.post(&retry, json!({})).await.is(409).error();
    assert!(
        error["message"].as_str().unwrap().contains("activate"),
        "{error}"
    );
    node.patch(&webhook, json!({"active": true})).await.is(200);
    let retried = node.post(&retry, json!({})).await.is(200).data();
    assert_eq!(retried["state"], "pending");
}

#[tokio::test]
async fn a_delivery_that_is_none_is_not_found() {
    let node = Node::start().await;
    let retry = format!("/deliveries/{}/retry", unknown("dlv_"));
    node.post(&retry, json!({})).await.is(404);
}

#[tokio::test]
async fn many_are_retried_by_a_filter_after_a_count() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::status(500));
    let source = node.deploy(EMITTER, json!({})).await;
    let mut webhooks = Vec::new();
    for _ in 0..2 {
        webhooks.push(node.webhook_for(&source.id, &receiver.url()).await);
    }
    node.run(&source, json!({"emits": [["tea", {}], ["milk", {}]]}))
        .await;
    for webhook in &webhooks {
        let failed = |all: &[Value]| all.len() == 2 && all.iter().all(|one| attempts(one) == 1);
        node.deliveries_until(webhook, failed).await;
    }
    // Its pending deliveries become dead letters.
    let off = format!("/webhooks/{}", webhooks[1]);
    node.patch(&off, json!({"active": false})).await.is(200);
    node.deliveries_in(&webhooks[1], "dead", 2).await;
    receiver.answer(|_| Reply::status(200));
    let path = "/deliveries/retry";
    let dead = node
        .post(path, json!({"dry_run": true}))
        .await
        .is(200)
        .data();
    let expected = json!({"count": 0, "left_out": 2, "is_capped": false, "dry_run": true});
    assert_eq!(dead, expected);
    let misspelt = node.post(path, json!({"webhook": webhooks[0]})).await;
    assert!(misspelt.is(400).text.contains("webhook"));
    let pending = json!({"state": "pending", "status": "5xx"});
    let done = node.post(path, pending).await.is(200).data();
    let expected = json!({"count": 2, "left_out": 0, "is_capped": false, "dry_run": false});
    assert_eq!(done, expected);
    node.deliveries_in(&webhooks[0], "delivered", 2).await;
    let body = json!({"webhook_id": webhooks[1]});
    let error = node.post(path, body).await.is(409).error();
    assert!(
        error["message"].as_str().unwrap().contains("activate"),
        "{error}"
    );
    node.patch(&off, json!({"active": true})).await.is(200);
    let done = node.post(path, json!({})).await.is(200).data();
    assert_eq!(done["count"], 2);
    node.deliveries_in(&webhooks[1], "delivered", 2).await;
    let bob = node.user("bob").await;
    let body = json!({"state": "delivered"});
    assert_eq!(bob.post(path, body).await.is(200).data()["count"], 0);
}
