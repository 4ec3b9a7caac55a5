//! Fencing: who has lost the right to a run writes nothing of it.

use headwater_model::id::SourceId;
use headwater_platform::PlatformError;
use headwater_store::{
    Claimed, InvocationEnd, LeaseTerm, NODE_TIMEOUT, NodeName, RunCommit, RunnableLease, Usage,
    WorkLimit,
};
use serde_json::json;

use crate::{
    component::Component,
    world::{T0, World, after, done, with_faults},
};

#[tokio::test]
async fn a_run_that_a_later_start_took_over_is_refused_and_leaves_nothing() {
    let former = World::new().await;
    let id = former.deploy(&Component::named("it")).await;
    let (outlived, report) = former.manual(&id, json!({})).await;
    outlived.emit(json!("outlived"));
    outlived.set("key", json!("outlived"));

    let later = World::on(&former.store).await;
    let taken_over = later.engine.next().await;
    outlived.returns();
    let refused = done(report).await;
    assert!(
        matches!(refused, Err(PlatformError::Unavailable(_))),
        "{refused:?}"
    );
    assert!(later.emitted(&id).await.is_empty());
    assert_eq!(later.key_values(&id).await, json!({}));
    assert_eq!(later.invocations_used().await, 0);

    taken_over.emit(json!("taken over"));
    taken_over.returns();
    later.barrier(&id).await;
    assert_eq!(later.emitted(&id).await, [json!("taken over")]);
}

/// Lets the lease of the run in flight run out, and claims its invocation once more.
pub(crate) async fn claimed_again(world: &World, id: &SourceId) -> (RunnableLease, Claimed) {
    world.clock.advance(61_000);
    let lease = world.lease(id).await;
    let term = LeaseTerm {
        epoch: lease.epoch,
        expires_at_ms: after(200_000),
    };
    let claimed = world
        .store
        .claim(&lease, term, after(61_000), WorkLimit::of(1));
    (lease.clone(), claimed.await.unwrap().remove(0))
}

#[tokio::test]
async fn a_run_whose_lease_ran_out_and_was_taken_is_refused() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    let (lease, taken) = claimed_again(&world, &id).await;
    run.emit(json!("late"));
    run.returns();
    assert!(matches!(
        done(report).await,
        Err(PlatformError::Unavailable(_))
    ));
    assert!(world.emitted(&id).await.is_empty());

    let end = RunCommit {
        lease,
        run_id: taken.lease.invocation_id.clone(),
        invocation: Some(InvocationEnd::ended(taken.lease.clone())),
        events: Vec::new(),
        dedupe: None,
        kv_writes: Vec::new(),
        usage: Usage::default(),
        progress: None,
        ended: None,
        unrecorded: 0,
        now_ms: T0,
    };
    assert!(world.store.commit_runs([end].into()).await[0].is_ok());
}

#[tokio::test]
async fn a_run_whose_commit_waits_for_the_store_is_not_run_again_when_its_lease_runs_out() {
    let (store, sqlite) = with_faults();
    let world = World::on(&store).await;
    let id = world.deploy(&Component::named("it").http().every(60)).await;
    let token = world.token(&id).await;
    world.request(&token, json!("asked")).await.unwrap();
    let run = world.engine.next().await;
    sqlite.faults().set_away(true);
    run.emit(json!("once"));
    run.returns();
    sqlite.faults().commit_refused().await;
    world.clock.advance(61_000);
    sqlite.faults().set_away(false);
    // A tick has the source claim.
    world.nudge().await;
    let tick = world.engine.next().await;
    assert_eq!(tick.event["interval_seconds"], json!(60), "{}", tick.event);
    tick.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("once")]);
}

#[tokio::test]
async fn after_a_refusal_dedupe_goes_on_from_what_the_store_has() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").dedupe("unique")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    claimed_again(&world, &id).await;
    run.emit_with(json!("a"), json!({ "id": "a" }));
    run.returns();
    assert!(done(report).await.is_err());

    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("a"), json!({ "id": "a" }));
    run.returns();
    assert_eq!(done(report).await.unwrap().events, 1);
}

#[tokio::test]
async fn a_run_that_is_refused_because_of_an_earlier_one_is_run_again_at_once() {
    let world = World::new().await;
    let component = Component::named("it").http().dedupe("unique");
    let id = world.deploy(&component).await;
    let token = world.token(&id).await;
    world.request(&token, json!("taken")).await.unwrap();
    let taken = world.engine.next().await;
    claimed_again(&world, &id).await;
    world.request(&token, json!("behind")).await.unwrap();
    let behind = world.engine.next().await;
    for run in [taken, behind] {
        run.emit_with(run.event.clone(), json!({ "id": run.event }));
        run.returns();
    }
    let again = world.engine.next().await;
    assert_eq!(again.event, json!("behind"));
    again.emit_with(json!("behind"), json!({ "id": "behind" }));
    again.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("behind")]);
}

#[tokio::test]
async fn after_a_refusal_a_fresh_worker_forgets_what_was_not_committed() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    claimed_again(&world, &id).await;
    run.set("key", json!("refused"));
    run.returns();
    assert!(done(report).await.is_err());
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.get("key"), None);
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn a_node_that_was_taken_for_dead_writes_nothing_more_and_runs_nothing() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    let (run, report) = world.manual(&id, json!({})).await;
    let name = NodeName::new("another");
    let epoch = world.store.start_node(&name, T0).await.unwrap();
    let dead_at_ms = T0 + 2 * NODE_TIMEOUT;
    let runnable = id.clone().into();
    let taken = world.store.lease_runnable(&runnable, epoch, dead_at_ms);
    taken.await.unwrap();
    run.emit(json!("late"));
    run.returns();
    assert!(done(report).await.is_err());
    assert!(world.emitted(&id).await.is_empty());
    let refused = world.request(&token, json!("for whom?")).await;
    assert!(refused.is_err(), "{refused:?}");
    assert!(world.engine.nothing_started());
}
