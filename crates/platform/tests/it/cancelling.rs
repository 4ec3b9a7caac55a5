//! Cancelled runs of sources: nothing of them counts, wherever they are, and all others go on.

use headwater_model::{
    id::{InvocationId, SourceId},
    origin::Origin,
    outcome::Outcome,
    page::PageRequest,
    time::EpochMs,
};
use headwater_platform::{AuditAction, PlatformError, RunOutcome, RunRecord};
use headwater_store::{NewInvocation, Trigger};
use serde_json::{json, value::to_raw_value};

use crate::{
    component::Component,
    world::{T0, World, done},
};

/// The runs of a source that have not ended, oldest first.
async fn open(world: &World, id: &SourceId) -> Vec<InvocationId> {
    let runnable = id.clone().into();
    let page = PageRequest::first(9);
    let open = world.store.open_runs(&runnable, &page).await.unwrap();
    open.items.into_iter().rev().map(|run| run.id).collect()
}

async fn cancel(world: &World, id: &InvocationId) {
    let (platform, caller) = (&world.platform, &world.caller);
    platform.cancel_run(caller, id).await.unwrap();
}

async fn record(world: &World, id: &InvocationId) -> RunRecord {
    world.store.run(id).await.unwrap().unwrap()
}

#[tokio::test]
async fn nothing_of_a_cancelled_run_is_committed_but_its_log_and_its_worker_goes() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!("never"));
    run.set("key", json!("never"));
    run.log("so far");
    let meant = open(&world, &id).await.remove(0);
    world.engine.calls();
    cancel(&world, &meant).await;

    let report = done(report).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Cancelled { .. }));
    assert_eq!((report.events, report.logs.len()), (0, 1));
    assert_eq!(world.engine.calls(), ["evict"]);
    let kept = record(&world, &meant).await.ended;
    assert_eq!(kept.outcome, RunOutcome::Cancelled);
    assert_eq!(kept.error.as_deref(), Some("cancelled by request"));
    assert_eq!((kept.emitted, kept.facts.changed.count), (0, 0));
    assert!(world.emitted(&id).await.is_empty());
    assert!(world.errors(&id).await.is_empty());
    assert_eq!(world.log(&id, Some("$logs")).await.len(), 1);
    assert_eq!(world.key_values(&id).await, json!({}));
    assert_eq!(open(&world, &id).await, []);
    // Its code is heard no more, and the next run finds nothing of it.
    run.emit(json!("late"));
    let (next, report) = world.manual(&id, json!({})).await;
    assert_eq!(next.get("key"), None);
    next.returns();
    done(report).await.unwrap();
    assert!(world.emitted(&id).await.is_empty());
    // Once more changes nothing.
    cancel(&world, &meant).await;
    assert_eq!(record(&world, &meant).await.ended, kept);
    let acts = world.recorded(AuditAction::RunCancel, meant.as_str());
    assert_eq!(acts.await, 1);
}

#[tokio::test]
async fn a_run_that_waits_is_cancelled_without_having_begun() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (first, report) = world.manual(&id, json!(1)).await;
    let before = open(&world, &id).await;
    let waiting = world.running(&id, json!(2));
    let second = loop {
        let both = open(&world, &id).await;
        if let Some(second) = both.into_iter().find(|run| !before.contains(run)) {
            break second;
        }
        tokio::task::yield_now().await;
    };
    world.engine.calls();
    cancel(&world, &second).await;
    let told = done(waiting).await.unwrap();
    assert!(matches!(told.outcome, Outcome::Cancelled { .. }));
    assert!(
        world.engine.calls().is_empty(),
        "the first one's worker stays"
    );
    let kept = record(&world, &second).await.ended;
    assert_eq!(
        (kept.outcome, kept.facts.starts),
        (RunOutcome::Cancelled, 0)
    );
    first.emit(json!("kept"));
    first.returns();
    done(report).await.unwrap();
    assert_eq!(world.emitted(&id).await, [json!("kept")]);
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn a_run_that_no_runner_has_is_cancelled_in_the_store() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    let queued = NewInvocation {
        id: InvocationId::new(T0, 77),
        runnable: id.clone().into(),
        trigger: Trigger::Manual,
        via: None,
        event: to_raw_value(&json!({})).unwrap().into(),
        hops: 0,
        now_ms: T0,
        due_at_ms: EpochMs(0),
        state: None,
        origin: Origin::default(),
    };
    world.store.enqueue(queued.clone(), None).await.unwrap();
    let stranger = world.stranger().await;
    let refused = world.platform.cancel_run(&stranger, &queued.id).await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    cancel(&world, &queued.id).await;
    let kept = record(&world, &queued.id).await.ended;
    assert_eq!(
        (kept.outcome, kept.facts.starts),
        (RunOutcome::Cancelled, 0)
    );
    assert_eq!(open(&world, &id).await, []);
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn other_runs_of_the_worker_are_started_again() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    for name in ["first", "second"] {
        world.request(&token, json!(name)).await.unwrap();
    }
    let mut runs = [world.engine.next().await, world.engine.next().await];
    runs.sort_by_key(|run| run.event.to_string());
    let [meant, _other] = open(&world, &id).await.try_into().unwrap();
    cancel(&world, &meant).await;
    let again = world.engine.next().await;
    again.emit(json!("done"));
    again.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("done")]);
    assert!(world.errors(&id).await.is_empty());
    let outcome = record(&world, &meant).await.ended.outcome;
    assert_eq!(outcome, RunOutcome::Cancelled);
}
