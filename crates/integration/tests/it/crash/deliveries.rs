//! Deliveries to a webhook, while their node is killed between commit, dispatch and attempt.

use std::collections::BTreeSet;

use headwater_integration::{Node, Received, Receiver, Reply};
use serde_json::json;

use super::{
    clients::Clients,
    counted::{counting, settle},
    seed::Seed,
};

/// How often the node is killed; `HEADWATER_TEST_KILLS` asks for more.
const KILLS: usize = 40;
const KILLS_VARIABLE: &str = "HEADWATER_TEST_KILLS";
/// Events between two kills, at most.
const STRIDE: usize = 20;

fn kills() -> usize {
    let given = std::env::var(KILLS_VARIABLE).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

/// An answer tells that a commit is durable, an arrival that an attempt is not recorded yet: the node is killed at one
/// or the other.
#[tokio::test(flavor = "multi_thread")]
async fn no_event_is_without_its_delivery() {
    let kills = kills();
    let mut seed = Seed::new();
    let mut node = Node::builder()
        .own_address()
        .flag("--allow-private-network")
        .flag("--retained-events=100000")
        .flag(&format!("--webhook-backoff={}", ["20ms"; 40].join(",")))
        .start()
        .await;
    let receiver = Receiver::start().await;
    // Every seventh attempt fails, so that some deliveries wait for their next one when the node is killed.
    let arrived = std::sync::atomic::AtomicUsize::new(0);
    receiver.answer(move |_| {
        let number = arrived.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Reply::status(if number % 7 == 3 { 500 } else { 200 })
    });
    let source = node.deploy(&counting(false), json!({})).await;
    let webhook = node
        .post("/webhooks", json!({"url": receiver.url()}))
        .await
        .is(200)
        .data();
    node.post(
        "/subscriptions",
        json!({"emitter_id": source.id, "listener_id": webhook["id"]}),
    )
    .await
    .is(200);

    let clients = Clients::of(&source);
    for kill in 0..kills {
        let ids = kill * STRIDE..(kill + 1) * STRIDE;
        let moment = ids.start + 1 + seed.below(STRIDE - 1);
        let sending = clients.send(ids.clone());
        clients.until_answered(moment).await;
        if seed.below(2) == 0 {
            receiver
                .until(|received| event_ids(received).len() >= moment)
                .await;
        }
        clients.crash(&mut node).await;
        sending.join_all().await;
        // Runs that were lost with several nodes in a row would wait longer and longer; deliveries may still be due.
        node.newest_until(&source, |newest| {
            let has_run = |id: usize| newest.iter().any(|event| event["event"]["id"] == id);
            ids.clone().all(has_run)
        })
        .await;
    }
    settle(&node, &source, &clients, kills * STRIDE).await;

    let emitted: BTreeSet<String> = node
        .events(&source)
        .await
        .iter()
        .map(|event| event["id"].as_str().unwrap().to_owned())
        .collect();
    let received = receiver
        .until(|received| event_ids(received).is_superset(&emitted))
        .await;
    assert_eq!(event_ids(&received), emitted, "nothing else was sent");
    let path = format!("/webhooks/{}/deliveries", webhook["id"].as_str().unwrap());
    for state in ["pending", "dead"] {
        node.until_empty(&format!("{path}?state={state}")).await;
    }
}

fn event_ids(received: &[Received]) -> BTreeSet<String> {
    let id = |received: &Received| {
        let id = received.headers["x-headwater-event-id"].to_str().unwrap();
        id.to_owned()
    };
    received.iter().map(id).collect()
}
