//! Stopping a node, and the next start on the same store.

use std::{sync::Arc, time::Duration};

use headwater_model::id::RunnableId;
use headwater_platform::{Ingress, PlatformError};
use headwater_store::{Conflict, NODE_TIMEOUT, NodeName, StoreError};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{
    component::Component,
    engine::Call,
    world::{T0, World, after, done, memory},
};

fn stopping(world: &World) -> JoinHandle<()> {
    let platform = Arc::clone(&world.platform);
    tokio::spawn(async move { platform.stop().await })
}

async fn one_at_a_time() -> World {
    World::with(|config| config.source_concurrency = 1).await
}

#[tokio::test]
async fn runs_in_flight_finish_and_are_committed() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    world
        .request(&world.token(&id).await, json!({}))
        .await
        .unwrap();
    let run = world.engine.next().await;
    let stopped = stopping(&world);
    run.emit(json!("finished"));
    tokio::task::yield_now().await;
    assert!(!stopped.is_finished());
    run.returns();
    done(stopped).await;
    assert_eq!(world.emitted(&id).await, [json!("finished")]);
}

#[tokio::test]
async fn a_node_that_stops_is_alive_until_its_last_commit() {
    let step_ms = u64::try_from(NODE_TIMEOUT.as_millis()).unwrap() - 1;
    let world = World::with(|config| config.shutdown_grace = Duration::from_secs(3600)).await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    world.request(&token, json!({})).await.unwrap();
    let run = world.engine.next().await;
    let stopped = stopping(&world);
    tokio::task::yield_now().await;
    // Time for a heartbeat.
    tokio::time::pause();
    world.clock.advance(step_ms);
    tokio::time::advance(NODE_TIMEOUT).await;
    tokio::task::yield_now().await;
    tokio::time::resume();
    let name = NodeName::new("another");
    let later_ms = after(2 * step_ms);
    let epoch = world.store.start_node(&name, later_ms).await.unwrap();
    let runnable = id.clone().into();
    let taken = world.store.lease_runnable(&runnable, epoch, later_ms);
    let held = taken.await.unwrap_err();
    assert!(
        matches!(held, StoreError::Conflict(Conflict::Held { .. })),
        "{held:?}"
    );
    run.emit(json!("last"));
    run.returns();
    done(stopped).await;
    assert_eq!(world.emitted(&id).await, [json!("last")]);
}

#[tokio::test]
async fn what_waits_is_given_back_and_the_next_start_goes_on_with_it() {
    let world = one_at_a_time().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    for number in 1..=3 {
        world.request(&token, json!(number)).await.unwrap();
    }
    let first = world.engine.next().await;
    let free = world.with_work(T0).await;
    assert!(free.is_empty(), "everything is leased");
    let stopped = stopping(&world);
    tokio::task::yield_now().await;
    first.emit(json!(1));
    first.returns();
    done(stopped).await;
    assert!(world.engine.nothing_started());
    let free = world.with_work(T0).await;
    assert_eq!(free, [RunnableId::from(id.clone())]);

    let next = World::start(Arc::clone(&world.store), |config| {
        config.source_concurrency = 1
    })
    .await;
    for number in 2..=3 {
        let run = next.engine.next().await;
        assert_eq!(run.event, json!(number));
        run.emit(run.event.clone());
        run.returns();
    }
    next.barrier(&id).await;
    assert_eq!(next.emitted(&id).await, [json!(1), json!(2), json!(3)]);
}

#[tokio::test]
async fn a_request_that_waits_for_its_response_is_told_to_try_again() {
    let world = one_at_a_time().await;
    let id = world
        .deploy(&Component::named("it").custom_response())
        .await;
    let token = world.token(&id).await;
    let answered = world.requesting(&token, json!(1));
    let run = world.engine.next().await;
    let waiting = world.requesting(&token, json!(2));
    // Serial work behind it shows that the second request has been taken in.
    world.barrier(&id).await;
    let stopped = stopping(&world);
    tokio::task::yield_now().await;
    run.respond(200, "");
    run.returns();
    assert!(matches!(done(answered).await, Ok(Ingress::Responded(_))));
    let refused = done(waiting).await;
    assert!(
        matches!(refused, Err(PlatformError::Unavailable(_))),
        "{refused:?}"
    );
    done(stopped).await;
}

#[tokio::test]
async fn a_stopped_node_starts_nothing_but_keeps_what_it_accepts() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    world.platform.stop().await;
    let accepted = world.request(&token, json!("late")).await;
    assert!(matches!(accepted, Ok(Ingress::Accepted)));
    let refused = world
        .platform
        .run_source(&world.caller, &id, Some(json!("by hand")))
        .await;
    assert!(matches!(refused, Err(PlatformError::Unavailable(_))));
    assert!(world.engine.nothing_started());

    let next = World::on(&world.store).await;
    let (one, other) = (next.engine.next().await, next.engine.next().await);
    let events = [one.event.clone(), other.event.clone()];
    assert!(
        events.contains(&json!("late")) && events.contains(&json!("by hand")),
        "{events:?}"
    );
    one.returns();
    other.returns();
    next.barrier(&id).await;
}

#[tokio::test]
async fn a_run_that_outlasts_the_grace_is_run_again_by_the_next_start() {
    let world = World::with(|config| config.shutdown_grace = Duration::ZERO).await;
    let id = world.deploy(&Component::named("it").http()).await;
    world
        .request(&world.token(&id).await, json!("long"))
        .await
        .unwrap();
    let long = world.engine.next().await;
    long.emit(json!("half"));
    world.platform.stop().await;
    long.returns();
    let next = World::on(&world.store).await;
    let again = next.engine.next().await;
    assert_eq!(again.event, json!("long"));
    again.emit(json!("whole"));
    again.returns();
    next.barrier(&id).await;
    assert_eq!(next.emitted(&id).await, [json!("whole")]);
}

#[tokio::test]
async fn runs_that_left_nothing_behind_are_counted_when_the_node_stops() {
    let world = World::new().await;
    let id = world
        .deploy(&Component::named("it").custom_response())
        .await;
    let asked = world.requesting(&world.token(&id).await, json!({}));
    let run = world.engine.next().await;
    run.respond(200, "");
    run.returns();
    done(asked).await.unwrap();
    world.platform.stop().await;
    assert_eq!(world.invocations_used().await, 1);
}

#[tokio::test]
async fn dedupe_and_key_values_go_on_after_a_restart() {
    let store = memory();
    let id = {
        let world = World::on(&store).await;
        let id = world.deploy(&Component::named("it").dedupe("unique")).await;
        let (run, report) = world.manual(&id, json!({})).await;
        run.emit_with(json!("a"), json!({ "id": "a" }));
        run.set("cursor", json!(1));
        run.returns();
        done(report).await.unwrap();
        world.platform.stop().await;
        id
    };
    let world = World::on(&store).await;
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.get("cursor"), Some(json!(1)));
    run.emit_with(json!("a"), json!({ "id": "a" }));
    run.returns();
    assert_eq!(done(report).await.unwrap().events, 0);
}

#[tokio::test]
async fn an_event_is_heard_once_over_a_restart() {
    let store = memory();
    let listener = {
        let world = World::on(&store).await;
        let emitter = world.deploy(&Component::named("emitter")).await;
        let listener = world.deploy(&Component::named("listener")).await;
        world.subscribe(&emitter, &listener, "").await;
        let (run, report) = world.manual(&emitter, json!({})).await;
        run.emit(json!("once"));
        run.returns();
        done(report).await.unwrap();
        world.engine.next().await.returns();
        world.barrier(&listener).await;
        world.platform.stop().await;
        listener
    };
    let world = World::on(&store).await;
    world.barrier(&listener).await;
    world.nudge().await;
    world.barrier(&listener).await;
    assert!(
        !world
            .engine
            .calls()
            .contains(&format!("listener {:?}", Call::Run))
    );
    assert!(world.engine.nothing_started());
}
