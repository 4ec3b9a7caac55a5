//! Events on their way to webhooks.

use axum::http::HeaderMap;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use headwater_model::webhook::DeliveryState::{Dead, Delivered, Discarded, Pending};
use headwater_store::{FormerSecret, WebhookChange};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use crate::{
    component::Component,
    receiver::{Receiver, SECRET, deliveries, local, seal, states},
    world::{T0, World, after, done, life, memory},
};

const OTHER_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// The signature that a receiver works out by itself.
fn signature(secret: &str, headers: &HeaderMap, body: &str) -> String {
    let header = |name| headers[name].to_str().unwrap();
    let key = STANDARD.decode(&secret["whsec_".len()..]).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let signed = format!(
        "{}.{}.{body}",
        header("webhook-id"),
        header("webhook-timestamp")
    );
    mac.update(signed.as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[tokio::test]
async fn an_event_is_posted_as_it_was_emitted_and_signed() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!({ "z": 1, "a": "ü" })]).await;
    let post = receiver.next().await;
    assert_eq!(
        (post.path.as_str(), post.text.as_str()),
        ("/hook", r#"{"z":1,"a":"ü"}"#)
    );
    let log = world.log(&source, None).await;
    let subscription = &world.deliveries(&webhook).await[0].subscription_id;
    let version = env!("CARGO_PKG_VERSION");
    for (name, value) in [
        ("content-type", "application/json".to_owned()),
        ("user-agent", format!("Headwater/{version}")),
        (
            "webhook-id",
            format!("{source}_{}_{subscription}", log[0].id),
        ),
        ("webhook-timestamp", T0.to_seconds().0.to_string()),
        (
            "webhook-signature",
            signature(SECRET, &post.headers, &post.text),
        ),
        ("x-headwater-emitter-id", source.to_string()),
        ("x-headwater-event-id", log[0].id.to_string()),
        ("x-headwater-channel", String::new()),
    ] {
        assert_eq!(post.header(name), value, "{name}");
    }
    post.status(204);
    let delivered = world.attempted(&webhook, 1).await;
    assert_eq!(states(&delivered), [Delivered]);
    let attempt = &delivered[0].attempts[0];
    assert_eq!((attempt.at_ms, attempt.status), (T0, Some(204)));
    assert_eq!((&attempt.error, &attempt.response_excerpt), (&None, &None));
}

#[tokio::test]
async fn a_named_channel_is_told() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.deliver(&source, &webhook, "größe").await;
    let (run, report) = world.manual(&source, json!({})).await;
    run.emit_with(json!(1), json!({ "name": "größe" }));
    run.returns();
    done(report).await.unwrap();
    let post = receiver.next().await;
    assert_eq!(post.header("x-headwater-channel"), "gr%C3%B6%C3%9Fe");
    post.status(200);
    world.attempted(&webhook, 1).await;
}

#[tokio::test]
async fn an_emitters_events_arrive_in_order_while_other_emitters_go_on() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (one, webhook) = world.delivering_to(&receiver.url()).await;
    let other = world.deploy(&Component::named("other")).await;
    world.deliver(&other, &webhook, "").await;
    world.emit(&one, (0..3).map(|number| json!(number))).await;
    let held = receiver.next().await;
    assert_eq!(held.body(), json!(0));
    for number in 10..13 {
        world.emit(&other, [json!(number)]).await;
        let post = receiver.next().await;
        assert_eq!(post.body(), json!(number));
        post.status(200);
    }
    world.attempted(&webhook, 3).await;
    assert!(receiver.nothing_arrived().await, "the first is in flight");
    held.status(200);
    for number in 1..3 {
        let post = receiver.next().await;
        assert_eq!(post.body(), json!(number));
        assert!(receiver.nothing_arrived().await);
        post.status(200);
    }
    world.attempted(&webhook, 6).await;
}

#[tokio::test]
async fn while_a_former_secret_is_valid_both_sign() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    let sealed = seal(world.platform.environment(), &webhook, OTHER_SECRET);
    world
        .change(&webhook, |webhook| {
            let former = std::mem::replace(&mut webhook.secret, sealed);
            webhook.former_secret = Some(FormerSecret {
                sealed: former,
                valid_until_ms: after(1_000),
            });
        })
        .await;
    for both in [true, false] {
        world.emit(&source, [json!(both)]).await;
        let post = receiver.next().await;
        let new = signature(OTHER_SECRET, &post.headers, &post.text);
        let former = signature(SECRET, &post.headers, &post.text);
        let expected = if both { format!("{new} {former}") } else { new };
        assert_eq!(post.header("webhook-signature"), expected);
        post.status(200);
        world.clock.advance(1_000);
    }
    world.attempted(&webhook, 2).await;
}

#[tokio::test]
async fn a_changed_url_and_secret_count_from_the_next_attempt() {
    let world = local().await;
    let (former, next) = (Receiver::new().await, Receiver::new().await);
    let (source, webhook) = world.delivering_to(&former.url()).await;
    // Both are claimed together; the second waits for the first.
    world.emit(&source, [json!(1), json!(2)]).await;
    let post = former.next().await;
    let sealed = seal(world.platform.environment(), &webhook, OTHER_SECRET);
    world
        .change(&webhook, |webhook| {
            webhook.url = next.url();
            webhook.secret = sealed;
        })
        .await;
    post.status(200);
    let post = next.next().await;
    assert_eq!(post.body(), json!(2));
    let signed = signature(OTHER_SECRET, &post.headers, &post.text);
    assert_eq!(post.header("webhook-signature"), signed);
    post.status(200);
    world.attempted(&webhook, 2).await;
    assert!(former.nothing_arrived().await);
}

#[tokio::test]
async fn an_inactive_webhook_gets_nothing_more() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1), json!(2)]).await;
    let post = receiver.next().await;
    world
        .change(&webhook, |webhook| webhook.active = false)
        .await;
    post.status(200);
    // What is dispatched once it is active again shows that nothing else was to come.
    world
        .change(&webhook, |webhook| webhook.active = true)
        .await;
    world.emit(&source, [json!(3)]).await;
    let post = receiver.next().await;
    assert_eq!(post.body(), json!(3));
    post.status(200);
    let deliveries = world.attempted(&webhook, 1).await;
    assert_eq!(states(&deliveries), [Dead, Dead, Delivered]);
}

#[tokio::test]
async fn a_deleted_webhook_gets_nothing_more() {
    let world = local().await;
    let (receiver, witness) = (Receiver::new().await, Receiver::new().await);
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1), json!(2)]).await;
    let post = receiver.next().await;
    assert!(world.store.delete_webhook(&webhook).await.unwrap());
    world.platform.webhook_changed(&webhook);
    post.status(200);
    let (source, webhook) = world.delivering_to(&witness.url()).await;
    world.emit(&source, [json!(3)]).await;
    witness.next().await.status(200);
    world.attempted(&webhook, 1).await;
    assert!(receiver.nothing_arrived().await);
}

#[test]
fn what_a_dead_node_was_delivering_is_delivered_by_its_next_start() {
    let store = memory();
    let (address, webhook, first) = life(async {
        let receiver = Receiver::new().await;
        let world = World::start(std::sync::Arc::clone(&store), |config| {
            config.deliveries.network = headwater_engine::network::NetworkPolicy::All;
        })
        .await;
        let (source, webhook) = world.delivering_to(&receiver.url()).await;
        world.emit(&source, [json!(1), json!(2)]).await;
        let post = receiver.next().await;
        let id = post.header("webhook-id").to_owned();
        (receiver.address, webhook, id)
    });
    life(async {
        let receiver = Receiver::new().await;
        assert_ne!(receiver.address, address);
        let moved = WebhookChange {
            url: Some(receiver.url()),
            ..WebhookChange::default()
        };
        store.update_webhook(&webhook, moved).await.unwrap();
        let world = World::start(std::sync::Arc::clone(&store), |config| {
            config.deliveries.network = headwater_engine::network::NetworkPolicy::All;
        })
        .await;
        let post = receiver.next().await;
        assert_eq!(
            (post.body(), post.header("webhook-id")),
            (json!(1), first.as_str())
        );
        post.status(200);
        let post = receiver.next().await;
        assert_eq!(post.body(), json!(2));
        post.status(200);
        world.attempted(&webhook, 2).await;
    });
}

#[tokio::test]
async fn a_stopping_node_finishes_attempts_and_gives_the_rest_back() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1), json!(2)]).await;
    let post = receiver.next().await;
    let platform = std::sync::Arc::clone(&world.platform);
    let stopped = tokio::spawn(async move { platform.stop().await });
    tokio::task::yield_now().await;
    assert!(!stopped.is_finished());
    post.status(200);
    done(stopped).await;
    assert!(receiver.nothing_arrived().await);
    let left = deliveries(&world.store, &webhook).await;
    assert_eq!(states(&left), [Delivered, Pending]);
    let work = world.store.webhooks_with_work(T0, None, 10).await.unwrap();
    assert_eq!(work.woken_webhooks, [webhook], "nobody holds the second");
}

#[tokio::test]
async fn a_stopping_node_abandons_what_hangs_and_gives_it_back() {
    let world = World::with(|config| {
        config.deliveries.network = headwater_engine::network::NetworkPolicy::All;
        config.shutdown_grace = std::time::Duration::from_millis(50);
    })
    .await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1)]).await;
    let _hanging = receiver.next().await;
    world.platform.stop().await;
    let work = world.store.webhooks_with_work(T0, None, 10).await.unwrap();
    assert_eq!(work.woken_webhooks, [webhook]);
}

#[tokio::test]
async fn a_lease_that_ran_out_while_the_attempt_went_on_is_renewed() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1), json!(2)]).await;
    let post = receiver.next().await;
    world.pass(3_600_000);
    // Another emitter's event behind it shows that the webhook's deliveries were claimed again.
    let other = world.deploy(&Component::named("other")).await;
    world.deliver(&other, &webhook, "").await;
    world.emit(&other, [json!("behind")]).await;
    let behind = receiver.next().await;
    assert_eq!(behind.body(), json!("behind"));
    behind.status(200);
    post.status(200);
    let post = receiver.next().await;
    assert_eq!(post.body(), json!(2));
    post.status(200);
    let delivered = world.attempted(&webhook, 3).await;
    assert_eq!(states(&delivered), [Delivered; 3]);
}

#[tokio::test]
async fn a_discarded_delivery_that_waits_behind_another_is_not_attempted() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world
        .emit(&source, (0..2).map(|number| json!(number)))
        .await;
    let held = receiver.next().await;
    let waiting = world.deliveries(&webhook).await.remove(1);
    let platform = &world.platform;
    let discarded = platform.discard_delivery(&world.caller, &waiting.id).await;
    assert_eq!(discarded.unwrap().state, Discarded);
    held.status(200);
    world.attempted(&webhook, 1).await;
    world.emit(&source, [json!(2)]).await;
    let post = receiver.next().await;
    assert_eq!(post.body(), json!(2));
    post.status(200);
    let all = world.attempted(&webhook, 2).await;
    assert_eq!(states(&all), [Delivered, Discarded, Delivered]);
}
