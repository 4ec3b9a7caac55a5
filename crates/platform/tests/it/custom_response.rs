//! Requests that the component answers itself.

use headwater_model::{
    endpoint::EndpointToken,
    id::SourceId,
    outcome::{Limit, Outcome},
    page::PageRequest,
};
use headwater_platform::{Ingress, PlatformError, RunFilter};
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned},
    world::{World, done, with_faults},
};

/// A deployed source that answers requests itself, and the token of its endpoint.
pub(crate) async fn asked() -> (World, SourceId, EndpointToken) {
    let world = World::new().await;
    let id = world
        .deploy(&Component::named("it").custom_response())
        .await;
    let token = world.token(&id).await;
    (world, id, token)
}

#[tokio::test]
async fn a_response_is_sent_while_the_run_goes_on() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({ "path": "/x" }));
    let run = world.engine.next().await;
    assert_eq!(run.event, json!({ "path": "/x" }));
    run.respond(202, "later");
    let Ok(Ingress::Responded(response)) = done(asking).await else {
        panic!("no response");
    };
    assert_eq!((response.status, &response.body[..]), (202, &b"later"[..]));
    run.emit(json!("afterwards"));
    run.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("afterwards")]);
}

#[tokio::test]
async fn what_was_emitted_and_stored_before_is_there_when_the_response_is_seen() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    run.emit(json!("before"));
    run.set("key", json!("before"));
    run.respond(200, "");
    done(asking).await.unwrap();
    assert_eq!(world.emitted(&id).await, [json!("before")]);
    assert_eq!(world.key_values(&id).await, json!({ "key": "before" }));
    run.emit(json!("after"));
    run.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("before"), json!("after")]);
}

#[tokio::test]
async fn the_first_response_counts() {
    let (world, _, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    run.respond(200, "first");
    run.respond(500, "second");
    run.returns();
    assert!(
        matches!(done(asking).await, Ok(Ingress::Responded(response)) if response.body == "first")
    );
}

#[tokio::test]
async fn a_run_that_ends_without_a_response_says_how() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    world.engine.next().await.returns();
    assert!(matches!(done(asking).await, Ok(Ingress::NoResponse)));

    let asking = world.requesting(&token, json!({}));
    world.engine.next().await.throws("no");
    assert!(matches!(done(asking).await, Ok(Ingress::Threw)));

    let asking = world.requesting(&token, json!({}));
    world.engine.next().await.times_out();
    assert!(matches!(done(asking).await, Ok(Ingress::TimedOut)));

    let asking = world.requesting(&token, json!({}));
    let message = "over 256 MiB".to_owned();
    world.engine.next().await.ends(Outcome::LimitExceeded {
        limit: Limit::Memory,
        message,
    });
    assert!(matches!(done(asking).await, Ok(Ingress::Threw)));
    world.barrier(&id).await;
    assert_eq!(world.errors(&id).await.len(), 3);
}

#[tokio::test]
async fn a_request_is_run_again_when_its_worker_is_lost_and_then_unavailable() {
    let (world, _, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    world.engine.next().await.loses_worker(&world.engine);
    let again = world.engine.next().await;
    again.respond(200, "second try");
    again.returns();
    assert!(matches!(done(asking).await, Ok(Ingress::Responded(_))));

    world.engine.fail_starts(3);
    let refused = world.request(&token, json!({})).await;
    assert!(
        matches!(refused, Err(PlatformError::Unavailable(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_run_whose_response_was_sent_and_effects_committed_is_not_run_again() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    run.emit(json!("once"));
    run.respond(200, "");
    done(asking).await.unwrap();
    run.loses_worker(&world.engine);
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
    assert_eq!(world.emitted(&id).await, [json!("once")]);
    assert_eq!(world.errors(&id).await[0]["error"]["code"], "WORKER_LOST");
}

#[tokio::test]
async fn a_run_that_had_only_responded_is_run_again_for_what_it_had_still_to_do() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    run.respond(200, "");
    done(asking).await.unwrap();
    run.loses_worker(&world.engine);
    let again = world.engine.next().await;
    again.respond(200, "for nobody");
    again.emit(json!("done"));
    again.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("done")]);
}

#[tokio::test]
async fn a_run_by_hand_that_responds_is_reported_with_all_that_it_emitted() {
    let (world, id, _) = asked().await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!(1));
    run.respond(200, "for nobody");
    run.emit(json!(2));
    run.returns();
    assert_eq!(done(report).await.unwrap().events, 2);
}

#[tokio::test]
async fn requests_beyond_what_fits_into_memory_are_refused() {
    let world = World::with(|config| config.source_concurrency = 1).await;
    let id = world
        .deploy(&Component::named("it").custom_response())
        .await;
    let token = world.token(&id).await;
    // The first finds the endpoint, so that nothing holds up the others on their way.
    let mut asking = vec![world.requesting(&token, json!({}))];
    let first = world.engine.next().await;
    asking.extend((1..600).map(|_| world.requesting(&token, json!({}))));
    world.engine.on("it", Call::Run, |run| {
        run.respond(200, "");
        returned()
    });
    // Serial work behind them shows that all have been taken in.
    world.barrier(&id).await;
    first.respond(200, "");
    first.returns();
    let mut refused = 0;
    for asked in asking {
        match done(asked).await {
            Ok(Ingress::Responded(_)) => {}
            Err(PlatformError::Unavailable(_)) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!((300..400).contains(&refused), "{refused} were refused");
}

#[tokio::test]
async fn requests_are_refused_once_too_many_runs_wait_for_the_store() {
    /// Runs that may wait for their commits, and requests that may wait for runs.
    const MAY_WAIT: (usize, usize) = (4096, 256);
    /// Requests that go on while their number reaches a bound.
    const ON_THEIR_WAY: usize = 32;
    let (store, sqlite) = with_faults();
    let world = World::on(&store).await;
    let component = Component::named("it").custom_response();
    let id = world.deploy(&component).await;
    let token = world.token(&id).await;
    world.engine.on("it", Call::Run, |run| {
        run.respond(200, "");
        // A run that leaves nothing but its record takes no place.
        run.log("answered");
        returned()
    });
    // The endpoint and its worker are there, so that a request needs nothing of the store.
    world.request(&token, json!({})).await.unwrap();
    world.barrier(&id).await;
    sqlite.faults().set_away(true);
    let mut asking = Vec::new();
    for _ in 0..MAY_WAIT.0 + MAY_WAIT.1 + 100 {
        asking.push(world.requesting(&token, json!({})));
        for _ in 0..ON_THEIR_WAY {
            tokio::task::yield_now().await;
        }
    }
    sqlite.faults().set_away(false);
    let (mut answered, mut refused) = (0, 0);
    for asked in asking {
        match done(asked).await {
            Ok(Ingress::Responded(_)) => answered += 1,
            Err(PlatformError::Unavailable(_)) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    let most = MAY_WAIT.0 + MAY_WAIT.1 + ON_THEIR_WAY;
    assert!((MAY_WAIT.0..=most).contains(&answered), "{answered}");
    assert!(refused > 0);
    world.barrier(&id).await;
    let runs = u64::try_from(answered).unwrap() + 3;
    assert_eq!(world.invocations_used().await, runs, "each was committed");
}

#[tokio::test]
async fn of_many_answers_that_leave_nothing_else_all_are_counted_and_the_newest_recorded() {
    /// More than are kept.
    const MANY: u64 = 150;
    let (world, id, token) = asked().await;
    world.engine.on("it", Call::Run, |run| {
        run.respond(200, "");
        returned()
    });
    for _ in 0..MANY {
        world.request(&token, json!({})).await.unwrap();
    }
    // No change waits for the pause between two writes of records, and none overtakes them.
    world.set_active(&id, false).await;
    assert_eq!(world.invocations_used().await, MANY);
    let (platform, caller) = (&world.platform, &world.caller);
    let page = PageRequest::first(100);
    let recorded = platform.source_runs(caller, &id, RunFilter::default(), &page);
    let recorded = recorded.await.unwrap().total_count;
    assert!((100..=MANY).contains(&recorded), "{recorded}");
}

#[tokio::test]
async fn who_asks_for_nothing_more_does_not_hold_up_the_run() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    asking.abort();
    run.emit(json!("still"));
    run.respond(200, "");
    run.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("still")]);
}
