//! `POST /webhooks/{id}/replay`.

use headwater_integration::{Node, Received, Receiver};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn dead_letters_of_a_range_are_delivered_in_the_order_of_their_events() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let webhook = format!("/webhooks/{id}");
    // Nothing answers at port 1, so they wait, and are given up with the webhook.
    let away = json!({"url": "http://127.0.0.1:1/"});
    node.patch(&webhook, away).await.is(200);
    for n in 1..=3 {
        node.run(&source, json!({"emits": [[n, {}]]})).await;
    }
    node.deliveries_until(&id, |all| all.len() == 3).await;
    node.patch(&webhook, json!({"active": false})).await.is(200);
    node.deliveries_in(&id, "dead", 3).await;
    let replay = format!("{webhook}/replay");
    let everything = json!({"since": 0});
    node.post(&replay, everything.clone()).await.is(409);

    let back = json!({"active": true, "url": receiver.url()});
    node.patch(&webhook, back).await.is(200);
    let events = node.events(&source).await;
    let from_second = json!({"since": events[1]["indexed_at_ms"]});
    let replayed = node.post(&replay, from_second).await.is(200).json();
    assert_eq!(replayed, json!({"data": {"replayed": 2}}));
    node.deliveries_in(&id, "delivered", 2).await;
    assert_eq!(receiver.bodies(), ["2", "3"]);

    let replayed = node.post(&replay, everything).await.is(200).data();
    assert_eq!(replayed["replayed"], 1);
    node.deliveries_in(&id, "delivered", 3).await;
    assert_eq!(receiver.bodies(), ["2", "3", "1"]);
}

#[tokio::test]
async fn delivered_events_are_delivered_again_when_asked() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [[1, {}], [2, {}]]}))
        .await;
    node.deliveries_in(&id, "delivered", 2).await;
    let replay = format!("/webhooks/{id}/replay");
    let none = node.post(&replay, json!({"since": 0})).await.is(200).data();
    assert_eq!(none["replayed"], 0);
    let all = json!({"since": "2020-01-01T00:00:00Z", "until": "2100-01-01", "delivered": true});
    let replayed = node.post(&replay, all).await.is(200).data();
    assert_eq!(replayed["replayed"], 2);
    let received = receiver.until(|received| received.len() == 4).await;
    let bodies: Vec<_> = received.iter().map(Received::text).collect();
    assert_eq!(bodies, ["1", "2", "1", "2"]);
    let earlier = json!({"since": 0, "until": "2020-01-01", "delivered": true});
    let replayed = node.post(&replay, earlier).await.is(200).data();
    assert_eq!(replayed["replayed"], 0);
}

#[tokio::test]
async fn events_that_came_while_it_was_paused_are_sent_once() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [[1, {}]]})).await;
    node.deliveries_in(&id, "delivered", 1).await;
    let webhook = format!("/webhooks/{id}");
    node.patch(&webhook, json!({"active": false})).await.is(200);
    node.run(&source, json!({"emits": [[2, {}], [3, {}]]}))
        .await;
    let replay = format!("{webhook}/replay");
    let missed = json!({"since": 0, "missed": true});
    node.post(&replay, missed.clone()).await.is(409);
    node.patch(&webhook, json!({"active": true})).await.is(200);
    let dry = json!({"since": 0, "missed": true, "dry_run": true});
    let would = node.post(&replay, dry).await.is(200).data();
    assert_eq!(would, json!({"replayed": 2, "is_capped": false}));
    let sent = node.post(&replay, missed.clone()).await.is(200).data();
    assert_eq!(sent["replayed"], 2);
    node.deliveries_in(&id, "delivered", 3).await;
    assert_eq!(receiver.bodies(), ["1", "2", "3"]);
    let again = node.post(&replay, missed).await.is(200).data();
    assert_eq!(again["replayed"], 0);
}

#[tokio::test]
async fn a_range_that_is_none_is_told() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let replay = format!("/webhooks/{}/replay", webhook["id"].as_str().unwrap());
    for (body, param) in [
        (json!({}), "since"),
        (json!({"since": Value::Null}), "since"),
        (json!({"since": "yesterday"}), "since"),
        (json!({"since": -1}), "since"),
        (json!({"since": 5, "until": 4}), "until"),
        (json!({"since": "2100-01-01"}), "until"),
        (json!({"since": 5, "delivered": "maybe"}), "delivered"),
        (json!({"since": 5, "dry_run": true}), "dry_run"),
        (json!({"missed": true}), "since"),
        (
            json!({"since": 5, "missed": true, "delivered": true}),
            "delivered",
        ),
    ] {
        let error = node.post(&replay, body.clone()).await.is(400).error();
        assert_eq!(error["param"], param, "{body}");
    }
    let nobody = format!("/webhooks/{}/replay", unknown("wh_"));
    node.post(&nobody, json!({"since": 0})).await.is(404);
}
