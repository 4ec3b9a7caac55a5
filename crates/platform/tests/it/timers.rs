//! Timers: when they fire, with which event, and never two runs at once.

use headwater_platform::PlatformError;
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, Run, returned},
    world::{World, after, configured, done},
};

/// An interval of ten seconds: several of them pass within one lease.
const TICK: u64 = 10_000;

/// A source whose tick shows that every timer which was due has fired.
async fn witness(world: &World) {
    world.deploy(&Component::named("witness").every(10)).await;
}

/// The so many runs that the next tick brings besides the witness's.
async fn next_tick(world: &World, count: usize) -> Vec<Run> {
    world.clock.advance(TICK);
    world.nudge().await;
    let mut runs = Vec::new();
    for _ in 0..=count {
        runs.push(world.engine.next().await);
    }
    let witness = runs.iter().position(|run| run.name == "witness").unwrap();
    runs.remove(witness).returns();
    assert!(world.engine.nothing_started());
    runs
}

#[tokio::test]
async fn a_timer_fires_with_the_event_of_its_tick() {
    let world = World::new().await;
    world.deploy(&Component::named("poll").every(10)).await;
    world.clock.advance(TICK + 400);
    world.nudge().await;
    let run = world.engine.next().await;
    assert_eq!(
        run.event,
        json!({ "timestamp": after(TICK).to_seconds(), "interval_seconds": 10 })
    );
    assert_eq!(
        run.props["timer"],
        json!({ "cron": null, "interval_seconds": 10 })
    );
    run.returns();
}

#[tokio::test]
async fn a_cron_timer_fires_with_its_expression_and_zone() {
    let world = World::new().await;
    let daily = json!({ "timer": { "cron": "0 0 * * *", "timezone": "UTC" } });
    let component = Component::named("daily").every(60);
    world.try_deploy(&component, daily).await.unwrap();
    world.clock.advance(24 * 3_600_000);
    world.nudge().await;
    let run = world.engine.next().await;
    let midnight = 1_700_006_400;
    assert_eq!(
        run.event,
        json!({ "timestamp": midnight, "cron": "0 0 * * *", "timezone": "UTC" })
    );
    run.returns();
}

#[tokio::test]
async fn a_timer_does_not_fire_before_it_is_due() {
    let world = World::new().await;
    world.deploy(&Component::named("poll").every(15)).await;
    witness(&world).await;
    next_tick(&world, 0).await;
    let mut runs = next_tick(&world, 1).await;
    runs.remove(0).returns();
}

#[tokio::test]
async fn ticks_of_a_source_wait_for_its_run_and_become_one() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    witness(&world).await;
    let first = next_tick(&world, 1).await.remove(0);
    next_tick(&world, 0).await;
    next_tick(&world, 0).await;
    first.returns();
    let second = world.engine.next().await;
    assert_eq!(second.name, "poll");
    second.returns();
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn ticks_and_runs_by_hand_are_serial() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    witness(&world).await;
    let (by_hand, report) = world.manual(&id, json!({})).await;
    next_tick(&world, 0).await;
    by_hand.returns();
    done(report).await.unwrap();
    world.engine.next().await.returns();
}

#[tokio::test]
async fn a_source_whose_timers_were_missed_fires_once() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    world.clock.advance(10 * TICK);
    world.nudge().await;
    world.engine.next().await.returns();
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn an_inactive_source_does_not_fire_and_starts_a_new_phase_when_it_is_active_again() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    witness(&world).await;
    world.set_active(&id, false).await;
    next_tick(&world, 0).await;
    world.set_active(&id, true).await;
    let mut runs = next_tick(&world, 1).await;
    assert_eq!(
        runs[0].event["timestamp"],
        json!(after(2 * TICK).to_seconds())
    );
    runs.remove(0).returns();
}

#[tokio::test]
async fn another_interval_counts_from_the_update() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(3600)).await;
    let updated = world
        .update(
            &id,
            configured(json!({ "timer": { "intervalSeconds": 10 } })),
        )
        .await;
    assert_eq!(
        updated.unwrap().configured_props["timer"]["interval_seconds"],
        json!(10)
    );
    world.clock.advance(TICK);
    world.nudge().await;
    let run = world.engine.next().await;
    assert_eq!(run.event["interval_seconds"], json!(10));
    run.returns();
}

#[tokio::test]
async fn a_failed_update_leaves_the_timer_alone() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    world
        .engine
        .on("broken", Call::Activate, |_| crate::engine::thrown("no"));
    let broken = Component::named("broken").hooks().every(3600);
    let refused = world.update(&id, crate::world::replaced(&broken)).await;
    assert!(matches!(refused, Err(PlatformError::Component { .. })));
    world.clock.advance(TICK);
    world.nudge().await;
    let run = world.engine.next().await;
    assert_eq!(
        (run.name.as_str(), &run.event["interval_seconds"]),
        ("poll", &json!(10))
    );
    run.returns();
}

#[tokio::test]
async fn a_run_that_throws_does_not_stop_the_timer() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    for _ in 0..2 {
        world.clock.advance(TICK);
        world.nudge().await;
        world.engine.next().await.throws("not today");
        world.barrier(&id).await;
    }
    let errors = world.errors(&id).await;
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0]["original_context"]["trigger"], "timer");
}

#[tokio::test]
async fn a_deleted_source_does_not_fire() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("poll").every(10)).await;
    witness(&world).await;
    world.delete(&id).await.unwrap();
    world.engine.on("poll", Call::Run, |_| returned());
    next_tick(&world, 0).await;
    assert!(!world.engine.calls().contains(&"poll run".to_owned()));
}
