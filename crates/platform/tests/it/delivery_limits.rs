//! Webhooks that hang, and those beside them.

use std::time::Duration;

use headwater_engine::network::NetworkPolicy;
use headwater_model::webhook::{
    DeliveryOrder,
    DeliveryState::{Delivered, Pending},
};
use serde_json::json;

use crate::{
    component::Component,
    receiver::{Receiver, local, states},
    world::World,
};

#[tokio::test]
async fn a_webhook_that_hangs_delays_nobody_else() {
    let world = local().await;
    let source = world.deploy(&Component::named("emitter")).await;
    let (hanging, receiver) = (Receiver::new().await, Receiver::new().await);
    let hangs = world.webhook(&hanging.url()).await;
    world.deliver(&source, &hangs, "").await;
    let mut webhooks = Vec::new();
    for _ in 0..20 {
        let webhook = world.webhook(&receiver.url()).await;
        world.deliver(&source, &webhook, "").await;
        webhooks.push(webhook);
    }
    for round in 1..=3 {
        world.emit(&source, [json!(round)]).await;
        for _ in &webhooks {
            receiver.next().await.status(200);
        }
        for webhook in &webhooks {
            world.attempted(webhook, round).await;
        }
    }
    let first = hanging.next().await;
    assert_eq!(first.body(), json!(1));
    assert!(hanging.nothing_arrived().await);
    assert_eq!(states(&world.deliveries(&hangs).await), [Pending; 3]);
}

#[tokio::test]
async fn a_host_without_room_takes_none_from_others() {
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        config.deliveries.host_concurrency = 1;
        config.deliveries.node_concurrency = 2;
    })
    .await;
    let source = world.deploy(&Component::named("emitter")).await;
    let full = Receiver::at("127.0.0.1").await;
    let free = Receiver::at("127.0.0.2").await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let webhook = world.webhook(&full.url()).await;
        world.deliver(&source, &webhook, "").await;
        waiting.push(webhook);
    }
    let goes_on = world.webhook(&free.url()).await;
    world.deliver(&source, &goes_on, "").await;
    world.emit(&source, [json!(1), json!(2)]).await;
    let mut held = full.next().await;
    for number in 1..3 {
        let post = free.next().await;
        assert_eq!(post.body(), json!(number));
        post.status(200);
    }
    world.attempted(&goes_on, 2).await;
    for _ in 0..5 {
        assert!(full.nothing_arrived().await, "one at a time");
        held.status(200);
        held = full.next().await;
    }
    held.status(200);
    for webhook in &waiting {
        let deliveries = world.attempted(webhook, 2).await;
        assert_eq!(states(&deliveries), [Delivered; 2]);
    }
}

#[tokio::test]
async fn webhooks_that_hang_at_first_sight_fill_their_share_and_are_tried_again_in_turn() {
    const HANGING: usize = 4;
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        config.deliveries.node_concurrency = HANGING;
        config.deliveries.quick_within = Duration::from_secs(1);
        config.deliveries.attempt_timeout = Duration::from_hours(1);
    })
    .await;
    let (hanging, receiver) = (Receiver::new().await, Receiver::new().await);
    let source = world.deploy(&Component::named("emitter")).await;
    let mut webhooks = Vec::new();
    for _ in 0..HANGING {
        let webhook = world.webhook(&hanging.url()).await;
        world.deliver(&source, &webhook, "").await;
        webhooks.push(webhook);
    }
    world.emit(&source, [json!("held")]).await;
    let mut held = Vec::new();
    for _ in 0..HANGING {
        held.push(hanging.next().await);
    }
    let (other, answers) = world.delivering_to(&receiver.url()).await;
    world.emit(&other, [json!("passes")]).await;
    let post = receiver.next().await;
    assert_eq!(post.body(), json!("passes"));
    post.status(200);
    held.into_iter().for_each(|post| post.status(200));
    // One of them had no room among the slow ones, and has it now.
    let again = hanging.next().await;
    assert_eq!(again.body(), json!("held"));
    again.status(200);
    webhooks.push(answers);
    for webhook in &webhooks {
        let deliveries = world.attempted(webhook, 1).await;
        assert_eq!(states(&deliveries), [Delivered]);
    }
}

#[tokio::test]
async fn a_failing_webhook_has_no_more_in_flight_than_its_limit() {
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        config.deliveries.webhook_concurrency = 3;
    })
    .await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world
        .emit(&source, (0..10).map(|number| json!(number)))
        .await;
    receiver.next().await.status(500);
    let mut in_flight = Vec::new();
    for _ in 0..3 {
        in_flight.push(receiver.next().await);
    }
    world.attempted(&webhook, 1).await;
    assert!(receiver.nothing_arrived().await);
    for made in 2..8 {
        in_flight.pop().unwrap().status(500);
        in_flight.push(receiver.next().await);
        world.attempted(&webhook, made).await;
        assert!(receiver.nothing_arrived().await);
    }
    for post in in_flight {
        post.status(500);
    }
    world.attempted(&webhook, 10).await;
}

#[tokio::test]
async fn a_long_backlog_arrives_completely_and_in_order() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world
        .emit(&source, (0..90).map(|number| json!(number)))
        .await;
    for number in 0..90 {
        let post = receiver.next().await;
        assert_eq!(post.body(), json!(number));
        post.status(200);
    }
    let deliveries = world.attempted(&webhook, 90).await;
    assert!(deliveries.iter().all(|each| each.state == Delivered));
}

#[tokio::test]
async fn a_webhook_that_wants_no_order_gets_one_sources_events_side_by_side() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world
        .emit(&source, (1..=3).map(|number| json!(number)))
        .await;
    let first = receiver.next().await;
    assert!(receiver.nothing_arrived().await, "the others wait for it");
    world
        .change(&webhook, |webhook| {
            webhook.ordering = DeliveryOrder::Unordered;
        })
        .await;
    let others = [receiver.next().await, receiver.next().await];
    let mut bodies: Vec<_> = others.iter().map(|post| post.body()).collect();
    bodies.sort_by_key(ToString::to_string);
    assert_eq!(bodies, [json!(2), json!(3)]);
    others.into_iter().for_each(|post| post.status(200));
    first.status(200);
    world.attempted(&webhook, 3).await;
    assert_eq!(states(&world.deliveries(&webhook).await), [Delivered; 3]);
}
