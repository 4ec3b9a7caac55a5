//! Events on their way to webhooks, from a run to the receiver.

use headwater_integration::{Node, Received, Receiver, Source, standard_webhooks::verify};
use serde_json::{Value, json};

use crate::code::EMITTER;

async fn start() -> (Node, Receiver, Source) {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    (node, receiver, source)
}

fn header<'a>(request: &'a Received, name: &str) -> &'a str {
    let value = request.headers.get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_webhook_receives_what_is_emitted_signed_and_in_order() {
    let (node, receiver, source) = start().await;
    let url = format!("{}/in?team=a", receiver.url());
    let webhook = node.webhook(&url).await;
    let secret = webhook["secret"].as_str().unwrap();
    node.subscribe(&source.id, webhook["id"].as_str().unwrap(), "")
        .await;
    for run in 0..5 {
        let emits: Vec<_> = (0..4)
            .map(|n| json!([{"n": run * 4 + n, "text": "grün ✓"}, {}]))
            .collect();
        node.run(&source, json!({"emits": emits})).await;
    }
    let received = receiver.until(|received| received.len() >= 20).await;
    let numbers: Vec<_> = received.iter().map(|one| one.json()["n"].clone()).collect();
    assert_eq!(numbers, (0..20).map(Value::from).collect::<Vec<_>>());

    let claims: Vec<_> = received.iter().map(|request| (secret, request)).collect();
    assert_eq!(verify(&claims).await, [true; 20]);
    let events = node.events(&source).await;
    let mut ids = std::collections::HashSet::new();
    for (request, event) in received.iter().zip(&events) {
        assert_eq!(
            (&*request.method, &*request.path, &*request.query),
            ("POST", "/in", "team=a")
        );
        assert_eq!(header(request, "content-type"), "application/json");
        assert_eq!(header(request, "x-headwater-emitter-id"), source.id);
        assert_eq!(event["id"], header(request, "x-headwater-event-id"));
        assert_eq!(header(request, "x-headwater-channel"), "");
        assert!(ids.insert(header(request, "webhook-id").to_owned()));
    }
}

#[tokio::test]
async fn the_secret_before_the_present_one_verifies_too() {
    let (node, receiver, source) = start().await;
    let webhook = node.webhook(&receiver.url()).await;
    let id = webhook["id"].as_str().unwrap();
    node.subscribe(&source.id, id, "").await;
    let rotate = format!("/webhooks/{id}/rotate_secret");
    let mut secrets = vec![webhook["secret"].clone()];
    for count in 1..=3 {
        node.run(&source, json!({"emits": [["hello", {}]]})).await;
        let received = receiver.until(|received| received.len() == count).await;
        let newest = received.last().unwrap();
        let claims: Vec<_> = secrets
            .iter()
            .map(|secret| (secret.as_str().unwrap(), newest))
            .collect();
        let expected: Vec<_> = (0..count).map(|n| n + 2 >= count).collect();
        assert_eq!(verify(&claims).await, expected, "after {count} secrets");
        let rotated = node.post(&rotate, json!({})).await.is(200).data();
        secrets.push(rotated["secret"].clone());
    }
}

#[tokio::test]
async fn errors_of_sources_deployed_later_reach_an_automatic_subscriber() {
    let (node, receiver, earlier) = start().await;
    let webhook = node.webhook(&receiver.url()).await;
    let body = json!({"event_name": "$errors", "listener_id": webhook["id"]});
    node.post("/auto_subscriptions", body).await.is(200);
    let later = node.deploy(EMITTER, json!({})).await;
    for source in [&earlier, &later] {
        node.run(source, json!({"emits": null})).await;
    }
    let received = receiver.until(|received| !received.is_empty()).await;
    assert_eq!(header(&received[0], "x-headwater-emitter-id"), later.id);
    assert_eq!(header(&received[0], "x-headwater-channel"), "$errors");
    let original = &received[0].json()["original_event"];
    assert_eq!(*original, json!({"emits": null}));
}

#[tokio::test]
async fn a_deactivated_webhook_misses_what_is_emitted_meanwhile() {
    let (node, receiver, source) = start().await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let webhook = format!("/webhooks/{id}");
    for (n, active, delivered) in [(1, true, 1), (2, false, 1), (3, true, 2)] {
        let change = json!({"active": active});
        node.patch(&webhook, change).await.is(200);
        node.run(&source, json!({"emits": [[n, {}]]})).await;
        // Dispatch must have passed the event before the webhook is switched again: a listener that
        // is never switched tells.
        let witness = node.deploy(WITNESS, json!({})).await;
        node.subscribe(&source.id, &witness.id, "passed").await;
        let passed = json!({"emits": [["x", {"name": "passed"}]]});
        node.run(&source, passed).await;
        node.events_until(&witness, |events| !events.is_empty())
            .await;
        // Whoever switches it off gives up on deliveries that are not made yet.
        node.deliveries_in(&id, "delivered", delivered).await;
    }
    let received = receiver.until(|received| received.len() == 2).await;
    let bodies: Vec<_> = received.iter().map(Received::text).collect();
    assert_eq!(bodies, ["1", "3"]);
}

const WITNESS: &str = r#"
export default {
  name: "Witness",
  version: "0.0.1",
  run(event) { this.$emit(event); },
};
"#;

#[tokio::test]
async fn a_webhook_on_a_private_network_gets_nothing_unless_allowed() {
    let node = Node::start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let port = receiver.url().rsplit(':').next().unwrap().to_owned();
    let id = node
        .webhook_for(&source.id, &format!("http://localhost:{port}/"))
        .await;
    node.run(&source, json!({"emits": [["secret", {}]]})).await;
    let attempted = |all: &[Value]| all.len() == 1 && all[0]["attempts"][0]["at_ms"].is_u64();
    let delivery = node.deliveries_until(&id, attempted).await.remove(0);
    let error = delivery["attempts"][0]["error"].as_str().unwrap();
    assert!(error.contains("--allow-private-network"), "{error}");
    assert!(receiver.received().is_empty());
}
