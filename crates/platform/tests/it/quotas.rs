//! The daily quota of invocations and the rate limit of keys.

use std::{num::NonZeroU32, sync::Arc};

use headwater_platform::{Ingress, PlatformConfig, PlatformError};
use headwater_store::SourceState;
use serde_json::json;

use crate::{
    component::Component,
    engine::PATIENCE,
    world::{T0, World, deployment, done, memory},
};

const DAY_MS: u64 = 24 * 3_600_000;

async fn world(quota: u64) -> World {
    World::with(|config| config.daily_invocations_quota = Some(quota)).await
}

/// Goes to the first second of the next day.
fn pass_midnight(world: &World) {
    world.clock.advance(DAY_MS - T0.0 % DAY_MS);
}

fn retry_after_s<T: std::fmt::Debug>(result: Result<T, PlatformError>) -> u64 {
    match result {
        Err(PlatformError::QuotaExceeded { retry_after_s, .. }) => retry_after_s,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_request_over_the_quota_is_refused_until_midnight() {
    let world = world(2).await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    for number in 0..2 {
        let taken = world.request(&token, json!(number)).await.unwrap();
        assert!(matches!(taken, Ingress::Accepted));
        world.engine.next().await.returns();
    }
    let until_midnight_s = (DAY_MS - T0.0 % DAY_MS) / 1000;
    let refused = world.request(&token, json!(2)).await;
    assert_eq!(retry_after_s(refused), until_midnight_s);
    pass_midnight(&world);
    world.request(&token, json!(3)).await.unwrap();
    assert_eq!(world.engine.next().await.event, json!(3));
}

#[tokio::test]
async fn requests_that_are_accepted_but_have_not_run_count() {
    let world = world(1).await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    world.request(&token, json!(1)).await.unwrap();
    retry_after_s(world.request(&token, json!(2)).await);
    world.engine.next().await.returns();
}

#[tokio::test]
async fn a_request_that_is_not_taken_in_takes_nothing_of_the_quota() {
    let world = world(2).await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    let lease = world.lease(&id).await;
    let state = async |state| world.store.set_source_state(&lease, state).await.unwrap();
    world.request(&token, json!(1)).await.unwrap();
    world.engine.next().await.returns();
    state(SourceState::Inactive).await;
    let refused = world.request(&token, json!(2)).await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    state(SourceState::Active).await;
    world.request(&token, json!(3)).await.unwrap();
    world.engine.next().await.returns();
    retry_after_s(world.request(&token, json!(4)).await);
}

#[tokio::test]
async fn a_manual_run_over_the_quota_is_refused() {
    let world = world(1).await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    retry_after_s(world.platform.run_source(&world.caller, &id, None).await);
    pass_midnight(&world);
    world.barrier(&id).await;
    assert_eq!(world.invocations_used().await, 1);
}

#[tokio::test]
async fn events_over_the_quota_wait_until_the_next_day() {
    let world = world(2).await;
    let from = world.deploy(&Component::named("from")).await;
    let to = world.deploy(&Component::named("to")).await;
    world.subscribe(&from, &to, "").await;
    let (run, report) = world.manual(&from, json!("go")).await;
    for number in [1, 2, 3] {
        run.emit(json!(number));
    }
    run.returns();
    done(report).await.unwrap();
    // The first event takes the last place of the day.
    let first = world.engine.next().await;
    assert_eq!(first.event, json!(1));
    first.emit(json!("heard"));
    first.returns();
    // Its end counts for the day on which it is committed.
    let committed = async {
        while world.emitted(&to).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, committed).await.unwrap();
    retry_after_s(world.platform.run_source(&world.caller, &to, None).await);
    assert!(world.engine.nothing_started());
    pass_midnight(&world);
    let asked = world.running(&to, json!({ "$barrier": true }));
    let second = world.engine.next().await;
    assert_eq!(second.event, json!(2));
    second.returns();
    // The run by hand has the other place of this day, and the third event waits for the next one.
    done(asked).await.unwrap();
    assert!(world.engine.nothing_started());
    world.clock.advance(DAY_MS);
    let asked = world.running(&to, json!({ "$barrier": true }));
    let third = world.engine.next().await;
    assert_eq!(third.event, json!(3));
    third.returns();
    done(asked).await.unwrap();
}

#[tokio::test]
async fn each_user_has_its_own_quota() {
    let world = world(1).await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    retry_after_s(world.platform.run_source(&world.caller, &id, None).await);
    let bob = world.user("bob").await;
    let request = deployment(&Component::named("it"), json!({}));
    let theirs = world.platform.deploy_source(&bob, request).await.unwrap();
    let event = Some(json!({ "$barrier": true }));
    world
        .platform
        .run_source(&bob, &theirs.source.id, event)
        .await
        .unwrap();
}

#[tokio::test]
async fn what_ran_before_a_restart_counts() {
    let store = memory();
    let quota = |config: &mut PlatformConfig| config.daily_invocations_quota = Some(2);
    let world = World::start(Arc::clone(&store), quota).await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    world.platform.stop().await;
    let world = World::start(store, quota).await;
    world.barrier(&id).await;
    retry_after_s(world.platform.run_source(&world.caller, &id, None).await);
}

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_to_wait() {
    let world = World::with(|config| config.rate_limit = NonZeroU32::new(2)).await;
    // The start has asked once already.
    world.clock.advance(1_000);
    for _ in 0..2 {
        world.platform.authenticate("key").await.unwrap();
    }
    let refused = world.platform.authenticate("key").await;
    assert!(matches!(
        refused,
        Err(PlatformError::RateLimited {
            retry_after_s: 1,
            ..
        })
    ));
    let unknown = world.platform.authenticate("nobody's").await;
    assert!(matches!(unknown, Err(PlatformError::Unauthenticated)));
    world.clock.advance(500);
    world.platform.authenticate("key").await.unwrap();
}
