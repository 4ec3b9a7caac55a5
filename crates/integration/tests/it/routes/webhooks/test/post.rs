//! `POST /webhooks/{id}/test`.

use headwater_integration::{Node, Receiver, Reply, standard_webhooks::verify};
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn a_test_event_is_signed_says_so_and_leaves_no_trace() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let webhook = node.webhook(&receiver.url()).await;
    let (id, secret) = (
        webhook["id"].as_str().unwrap(),
        webhook["secret"].as_str().unwrap(),
    );
    let path = format!("/webhooks/{id}");
    let test = format!("{path}/test");
    receiver.answer(|_| Reply::json(&json!({"thanks": true})));
    let tested = node.post(&test, json!({})).await.is(200).data();
    assert_eq!(tested["delivered"], true);
    assert_eq!(tested["attempt"]["status"], 200);
    assert_eq!(tested["attempt"]["response_excerpt"], r#"{"thanks":true}"#);
    let received = receiver.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].json(), tested["event"]);
    assert_eq!(tested["event"]["test"], true);
    assert_eq!(received[0].headers["x-headwater-test"], "true");
    let claims = [
        (secret, &received[0]),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &received[0]),
    ];
    assert_eq!(verify(&claims).await, [true, false]);

    node.patch(&path, json!({"active": false})).await.is(200);
    receiver.answer(|_| Reply::status(410));
    let tested = node.post(&test, json!({})).await.is(200).data();
    assert_eq!(tested["delivered"], false);
    assert_eq!(tested["attempt"]["failure"], "status");
    node.patch(&path, json!({"active": true})).await.is(200);
    let again = node.cli(&["webhooks", "test", id]).await;
    assert_eq!(again.code, 1, "{}", again.stdout);
    assert!(again.stdout.contains("410"), "{}", again.stdout);
    receiver.answer(|_| Reply::status(204));
    let again = node.cli(&["webhooks", "test", id]).await.ok();
    assert!(again.stdout.contains("204"), "{}", again.stdout);
    let ids: Vec<_> = receiver
        .received()
        .iter()
        .map(|one| one.headers["webhook-id"].clone())
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");

    let shown = node
        .get(&format!("{path}?expand=health"))
        .await
        .is(200)
        .data();
    assert_eq!(
        shown["active"], true,
        "a receiver that is gone was not taken at its word"
    );
    assert!(shown.get("failing_since_ms").is_none());
    assert_eq!(shown["health"]["last_24_hours"]["attempts"], 0);
    let deliveries = node.get(&format!("{path}/deliveries")).await.is(200);
    assert!(deliveries.items().is_empty());
}

#[tokio::test]
async fn a_test_event_keeps_to_the_network_policy_and_to_the_owner() {
    let node = Node::start().await;
    let webhook = node.webhook("http://localhost:1/").await;
    let test = format!("/webhooks/{}/test", webhook["id"].as_str().unwrap());
    let tested = node.post(&test, json!({})).await.is(200).data();
    assert_eq!(tested["delivered"], false);
    assert_eq!(tested["attempt"]["failure"], "blocked");
    assert_eq!(tested["attempt"]["status"], json!(null));
    let nobody = format!("/webhooks/{}/test", unknown("wh_"));
    node.post(&nobody, json!({})).await.is(404);
}
