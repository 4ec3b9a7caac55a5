//! Requests at endpoints that the platform answers: durable first, then run, several at once.

use headwater_model::{endpoint::EndpointToken, time::EpochMs};
use headwater_platform::{Ingress, PlatformError};
use headwater_store::{LeaseTerm, WorkLimit};
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned},
    world::{T0, World, after},
};

#[tokio::test]
async fn a_request_is_durable_before_it_is_accepted() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("hook").http()).await;
    let token = world.token(&id).await;
    let accepted = world.request(&token, json!({ "body": "durable" })).await;
    assert!(matches!(accepted, Ok(Ingress::Accepted)));

    // Nothing of the run has happened yet; the next start of a node would find the request.
    let lease = world.lease(&id).await;
    let term = LeaseTerm {
        epoch: lease.epoch,
        expires_at_ms: after(3_600_000),
    };
    let after_its_lease = after(600_000);
    let claimed = world
        .store
        .claim(&lease, term, after_its_lease, WorkLimit::of(10))
        .await
        .unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].event.get(), r#"{"body":"durable"}"#);
    world.engine.next().await.returns();
}

#[tokio::test]
async fn an_accepted_request_is_run_with_its_event_and_ends() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("hook").http()).await;
    let token = world.token(&id).await;
    world
        .request(&token, json!({ "path": "/a" }))
        .await
        .unwrap();
    let run = world.engine.next().await;
    assert_eq!(run.event, json!({ "path": "/a" }));
    run.emit(json!("seen"));
    run.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("seen")]);
    assert!(world.with_work(EpochMs(u64::MAX / 2)).await.is_empty());
}

#[tokio::test]
async fn large_requests_wait_in_the_store_until_there_is_room_in_memory() {
    let world = World::with(|config| config.source_concurrency = 1).await;
    let id = world.deploy(&Component::named("hook").http()).await;
    let token = world.token(&id).await;
    let large = |number: u32| json!([number, "x".repeat(9 << 20)]);
    for number in 0..4 {
        world.request(&token, large(number)).await.unwrap();
    }
    let first = world.engine.next().await;
    world.barrier(&id).await;
    // One runs, two wait in memory, and the last is nobody's.
    let lease = world.lease(&id).await;
    let term = LeaseTerm {
        epoch: lease.epoch,
        expires_at_ms: after(1),
    };
    let free = world.store.claim(&lease, term, T0, WorkLimit::of(10)).await;
    let free = free.unwrap();
    assert_eq!(free.len(), 1);
    assert!(free[0].event.get().starts_with("[3,"));
    world.store.release(&free[0].lease, None).await.unwrap();
    first.returns();
    for number in 1..4 {
        let run = world.engine.next().await;
        assert_eq!(run.event[0], json!(number));
        run.returns();
        world.barrier(&id).await;
    }
}

#[tokio::test]
async fn http_runs_go_on_at_once_up_to_the_source_concurrency() {
    let world = World::with(|config| config.source_concurrency = 2).await;
    let id = world.deploy(&Component::named("hook").http()).await;
    let token = world.token(&id).await;
    // Runs begin in their order once the worker is there.
    world.barrier(&id).await;
    for number in 0..4 {
        world.request(&token, json!(number)).await.unwrap();
    }
    let (first, second) = (world.engine.next().await, world.engine.next().await);
    assert_eq!((&first.event, &second.event), (&json!(0), &json!(1)));
    // A serial run shows that the runner had its chance to start a third.
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());

    second.returns();
    let third = world.engine.next().await;
    assert_eq!(third.event, json!(2));
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
    first.returns();
    world.engine.next().await.returns();
    third.returns();
}

#[tokio::test]
async fn http_runs_do_not_wait_for_a_serial_run() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("hook").http()).await;
    let (serial, report) = world.manual(&id, json!("serial")).await;
    world
        .request(&world.token(&id).await, json!("http"))
        .await
        .unwrap();
    let http = world.engine.next().await;
    assert_eq!(http.event, json!("http"));
    http.returns();
    serial.returns();
    crate::world::done(report).await.unwrap();
}

#[tokio::test]
async fn more_requests_than_fit_into_memory_are_run_all_the_same() {
    let world = World::with(|config| config.source_concurrency = 1).await;
    let id = world.deploy(&Component::named("hook").http()).await;
    let token = world.token(&id).await;
    for number in 0..600 {
        world.request(&token, json!(number)).await.unwrap();
    }
    let first = world.engine.next().await;
    assert_eq!(first.event, json!(0));
    let last = std::sync::Arc::new(tokio::sync::Notify::new());
    let seen = std::sync::Arc::clone(&last);
    world.engine.on("hook", Call::Run, move |run| {
        run.emit(run.event.clone());
        if run.event == json!(599) {
            seen.notify_one();
        }
        returned()
    });
    first.returns();
    tokio::time::timeout(crate::engine::PATIENCE, last.notified())
        .await
        .unwrap();
    world.barrier(&id).await;
    let newest = world.emitted(&id).await;
    assert_eq!(newest.len(), 100);
    assert_eq!(newest.last(), Some(&json!(599)));
    assert_eq!(world.invocations_used().await, 601);
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let world = World::new().await;
    let refused = world
        .request(&EndpointToken::new("nobody"), json!({}))
        .await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
}

#[tokio::test]
async fn the_endpoint_of_an_inactive_source_is_not_found_until_it_is_active_again() {
    let world = World::new().await;
    for component in [
        Component::named("plain").http(),
        Component::named("custom").custom_response(),
    ] {
        let id = world.deploy(&component).await;
        let token = world.token(&id).await;
        world.engine.on("plain", Call::Run, |_| returned());
        world.engine.on("custom", Call::Run, |_| returned());
        world.request(&token, json!({})).await.unwrap();
        world.set_active(&id, false).await;
        let refused = world.request(&token, json!({})).await;
        assert!(
            matches!(refused, Err(PlatformError::NotFound { .. })),
            "{refused:?}"
        );
        world.set_active(&id, true).await;
        world.request(&token, json!({})).await.unwrap();
        world.delete(&id).await.unwrap();
        let refused = world.request(&token, json!({})).await;
        assert!(
            matches!(refused, Err(PlatformError::NotFound { .. })),
            "{refused:?}"
        );
    }
}
