//! The health of sources: their last run and event, since when they fail, and their next tick.

use headwater_model::{channel::Channel, event::NewEvent, id::SourceId, time::EpochMs};

use super::{
    Factory,
    fixture::*,
    runs::{end_all, failed, returned},
};
use crate::{
    EndedRun, KeptRuns, LastEvent, RECENT_RUNS_COUNTED_MAX, RecentRuns, RunOutcome, SourceHealth,
    SourceState, Store, StoreError,
};

async fn health(store: &dyn Store, source: &SourceId, since_ms: EpochMs) -> SourceHealth {
    let ids = std::slice::from_ref(source);
    let mut found = store.sources_health(ids, since_ms).await.unwrap();
    assert_eq!(found.len(), 1, "one for each");
    found.remove(0)
}

/// Runs that threw, started one second after the other from this one on.
fn failures(from_ms: EpochMs, count: u64) -> Vec<EndedRun> {
    let of = |number: u64| EndedRun {
        started_at_ms: EpochMs(from_ms.0 + number * 1_000),
        ..failed(RunOutcome::Threw, "no")
    };
    (0..count).map(of).collect()
}

async fn trim(store: &dyn Store, successes: u32, failures: u32) -> Result<(), StoreError> {
    let keep = KeptRuns {
        successes,
        failures,
    };
    while store.trim_runs(keep, 2).await?.more {}
    Ok(())
}

/// The first failure of a row is found after retention took most of the row, and a success ends it.
pub async fn a_source_fails_since_the_first_failure_after_a_success(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    trim(&*store, 3, 2).await.unwrap();
    let none = health(&*store, &source.id, T0).await;
    assert_eq!(none, SourceHealth::default());
    end_all(&*store, &source, &failures(T0, 2)).await;
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.failing_since_ms, Some(T0), "without any success");
    end_all(&*store, &source, &[returned()]).await;
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.failing_since_ms, None);
    let row = end_all(&*store, &source, &failures(T0 + MINUTE, 9)).await;
    trim(&*store, 3, 2).await.unwrap();
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.failing_since_ms, Some(T0 + MINUTE));
    assert_eq!(found.last_run.unwrap().id, row[8]);
    for (number, id) in row.iter().enumerate() {
        let is_kept = store.run(id).await.unwrap().is_some();
        assert_eq!(is_kept, [0, 7, 8].contains(&number), "{number}");
    }
    let last = end_all(&*store, &source, &[returned()]).await;
    trim(&*store, 3, 2).await.unwrap();
    let store = factory.reopen(store).await;
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.failing_since_ms, None);
    assert_eq!(found.last_run.unwrap().id, last[0]);
    assert!(store.run(&row[0]).await.unwrap().is_none(), "the row ended");
    end_all(&*store, &source, &failures(T0, 1)).await;
    trim(&*store, 3, 0).await.unwrap();
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.failing_since_ms, None, "none are to be kept");
}

/// A count of as many records as are kept may be too small; sources do not count each other's runs.
pub async fn counts_of_runs_that_may_have_been_trimmed_say_so(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    end_all(&*store, &source, &failures(T0, 2)).await;
    end_all(&*store, &source, &vec![returned(); 3]).await;
    end_all(&*store, &other, &failures(T0, 1)).await;
    trim(&*store, 4, 4).await.unwrap();
    let counted = |runs, failures, are_at_least| RecentRuns {
        runs,
        failures,
        are_at_least,
    };
    let both = [other.id.clone(), source.id.clone()];
    let found = store.sources_health(&both, T0).await.unwrap();
    let recent: Vec<RecentRuns> = found.iter().map(|one| one.recent).collect();
    assert_eq!(recent, [counted(1, 1, false), counted(5, 2, false)]);
    let later = health(&*store, &source.id, T0 + MS).await;
    assert_eq!(later.recent, counted(0, 0, false));
    trim(&*store, 2, 4).await.unwrap();
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.recent, counted(4, 2, true));
    trim(&*store, 5_000, 5_000).await.unwrap();
    let many = RECENT_RUNS_COUNTED_MAX + 1;
    end_all(&*store, &other, &vec![returned(); many as usize]).await;
    let found = health(&*store, &other.id, T0).await;
    assert_eq!(found.recent, counted(many, 1, true), "1 failure besides");
}

/// Events on `$errors` and `$logs` are not the source's newest, nor is one whose deletion is requested.
pub async fn health_has_the_newest_event_and_the_next_tick(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let timers = vec![timer("slow", 60), timer("fast", 15)];
    let source = deploy_with_timers(&*store, epoch, &owner(), timers).await;
    emit(&*store, &source, &["1"], T0).await;
    let newest = NewEvent {
        summary: Some("two".to_owned()),
        ..event_on(Channel::named("orders"), "2")
    };
    let later = T0 + SECOND;
    commit(&*store, run_of(&source, vec![newest], later))
        .await
        .unwrap();
    emit_on(&*store, &source, Channel::errors(), "3").await;
    let ids = ids(&*store, &source).await;
    let found = health(&*store, &source.id, T0).await;
    let last_event = LastEvent {
        id: ids[1],
        indexed_at_ms: later,
        channel: Channel::named("orders"),
        summary: Some("two".to_owned()),
    };
    assert_eq!(found.last_event, Some(last_event));
    assert_eq!(found.next_tick_at_ms, Some(T0 + 15 * SECOND));
    let of_newest = deletion(&source, ordinary(), (Some(ids[1]), Some(ids[1])));
    store.request_deletion(of_newest).await.unwrap();
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.last_event.unwrap().id, ids[0]);
    let lease = &source.lease;
    let inactive = store.set_source_state(lease, SourceState::Inactive).await;
    inactive.unwrap();
    let found = health(&*store, &source.id, T0).await;
    assert_eq!(found.next_tick_at_ms, None);
}
