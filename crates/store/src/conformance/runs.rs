//! Records of runs: written with the last commit, listed, bounded; and the events of a run.

use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::{ComponentId, EventId, InvocationId},
    origin::Origin,
    outcome::Limit,
    page::{PageRequest, Position},
};

use super::{Factory, fixture::*};
use crate::{
    CHANGED_KEY_CHARS_MAX, CHANGED_KEYS_MAX, ChangedKeys, DROPPED_KEYS_MAX, Dropped, EndedRun,
    KeptRuns, OutcomeFilter, RUN_ERROR_CHARS_MAX, RunCommit, RunFacts, RunFilter, RunOutcome,
    RunRecord, RunStretch, RunTrigger, RunVersion, SentResponse, Store, StoreError,
};

/// The end of a run that returned.
pub(super) fn returned() -> EndedRun {
    EndedRun {
        version: RunVersion::Component(ComponentId::new(T0, 7)),
        trigger: RunTrigger::Http,
        replay_of: None,
        queued_at_ms: T0,
        started_at_ms: T0 + MS,
        ended_at_ms: T0 + 2 * MS,
        outcome: RunOutcome::Returned,
        error: None,
        emitted: 0,
        dropped: Dropped::default(),
        has_scheduled: false,
        origin: Origin {
            request_id: Some("mine-1".into()),
            trace: Some(trace()),
        },
        facts: RunFacts::default(),
    }
}

pub(super) fn failed(outcome: RunOutcome, error: &str) -> EndedRun {
    EndedRun {
        outcome,
        error: Some(error.to_owned()),
        ..returned()
    }
}

/// The last commit of a run that was never queued.
fn last_commit(source: &Leased, ended: EndedRun) -> RunCommit {
    RunCommit {
        ended: Some(ended),
        ..run_of(source, Vec::new(), T0 + 2 * MS)
    }
}

/// Commits runs that end so, and tells their ids.
pub(super) async fn end_all(
    store: &dyn Store,
    source: &Leased,
    ends: &[EndedRun],
) -> Vec<InvocationId> {
    let mut ids = Vec::new();
    for end in ends {
        let run = last_commit(source, end.clone());
        ids.push(run.run_id.clone());
        commit(store, run).await.unwrap();
    }
    ids
}

async fn listed_runs(store: &dyn Store, source: &Leased, filter: RunFilter) -> Vec<InvocationId> {
    let page = PageRequest::first(100);
    let page = store.runs(&runnable(source), filter, &page).await.unwrap();
    assert_eq!(page.total_count, page.items.len() as u64);
    page.items.into_iter().map(|run| run.id).collect()
}

/// One record, with everything that the last commit told; nothing of a commit that was refused.
pub async fn a_run_leaves_one_record_with_its_commit(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let queued = manual(&source.id, "1");
    let lease = store.enqueue(queued, held(&source, epoch)).await.unwrap();
    let lease = lease.unwrap();
    let end = EndedRun {
        replay_of: Some(InvocationId::new(T0, 3)),
        emitted: 1,
        dropped: Dropped {
            count: 2,
            keys: vec!["7".to_owned(), "a".to_owned()],
        },
        facts: RunFacts {
            starts: 2,
            response: Some(SentResponse {
                status: 404,
                bytes: 5_000_000_000,
            }),
            changed: ChangedKeys::of(["cursor", "seen"].into_iter()),
            time_limit_ms: Some(60_000),
        },
        ..failed(RunOutcome::LimitExceeded(Limit::Wall), "too slow")
    };
    let run = RunCommit {
        events: vec![event("1")],
        ended: Some(end.clone()),
        ..end_of_lease(&source, &lease)
    };
    let refused = RunCommit {
        invocation: ended(Some(crate::Lease {
            attempt: 9,
            ..lease.clone()
        })),
        ..run.clone()
    };
    assert_conflict(commit(&*store, refused).await);
    assert!(store.run(&run.run_id).await.unwrap().is_none());
    commit(&*store, run.clone()).await.unwrap();
    let last_event = ids(&*store, &source).await.pop();
    let record = RunRecord {
        id: lease.invocation_id,
        runnable: runnable(&source),
        caused_by: None,
        ended: end,
        last_event,
    };
    // A later commit of the same run leaves its record as it is.
    let later = RunCommit {
        run_id: run.run_id.clone(),
        ..last_commit(&source, returned())
    };
    commit(&*store, later).await.unwrap();
    let store = factory.reopen(store).await;
    assert_eq!(store.run(&run.run_id).await.unwrap(), Some(record));
    assert_eq!(
        listed_runs(&*store, &source, RunFilter::default()).await,
        std::slice::from_ref(&run.run_id)
    );
    let other = InvocationId::new(T0, entropy());
    assert!(store.run(&other).await.unwrap().is_none());
}

/// However long an error is and however much was dropped, the record has its beginning.
pub async fn a_record_is_small_whatever_was_thrown(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let keys: Vec<String> = (0..1_000).map(|key| key.to_string()).collect();
    let end = EndedRun {
        dropped: Dropped {
            count: 1_000,
            keys: keys.clone(),
        },
        facts: RunFacts {
            changed: ChangedKeys {
                count: 1_000,
                keys: vec!["ü".repeat(9_999); 1_000],
            },
            ..RunFacts::default()
        },
        ..failed(RunOutcome::Threw, &"é".repeat(9_999))
    };
    let second = failed(RunOutcome::Threw, "first line\n    at run (file:///a.mjs)");
    let ids = end_all(&*store, &source, &[end, second]).await;
    let kept = store.run(&ids[0]).await.unwrap().unwrap().ended;
    assert_eq!(kept.error, Some("é".repeat(RUN_ERROR_CHARS_MAX)));
    assert_eq!(kept.dropped.count, 1_000);
    assert_eq!(kept.dropped.keys, keys[..DROPPED_KEYS_MAX]);
    let name = "ü".repeat(CHANGED_KEY_CHARS_MAX);
    assert_eq!(kept.facts.changed.count, 1_000);
    assert_eq!(kept.facts.changed.keys, vec![name; CHANGED_KEYS_MAX]);
    let kept = store.run(&ids[1]).await.unwrap().unwrap().ended;
    assert_eq!(kept.error.as_deref(), Some("first line"));
}

/// Newest first, failures and successes together, from either side.
pub async fn runs_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    let threw = failed(RunOutcome::Threw, "no");
    let ends = [returned(), threw.clone(), returned(), threw, returned()];
    let mut newest_first = end_all(&*store, &source, &ends).await;
    end_all(&*store, &other, &ends).await;
    newest_first.reverse();
    let page = async |position| {
        let request = PageRequest { limit: 2, position };
        let id = runnable(&source);
        let page = store.runs(&id, RunFilter::default(), &request).await;
        let page = page.unwrap();
        assert_eq!(page.total_count, 5);
        page.items.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let at = |number: usize| newest_first[number].clone();
    assert_eq!(page(Position::First).await, newest_first[..2]);
    assert_eq!(page(Position::After(at(1))).await, newest_first[2..4]);
    assert_eq!(page(Position::After(at(3))).await, newest_first[4..]);
    assert_eq!(page(Position::Before(at(4))).await, newest_first[2..4]);
    assert_eq!(page(Position::Before(at(1))).await, newest_first[..1]);
}

/// The runs that match the filter are listed, and no others.
pub async fn runs_are_listed_by_outcome_trigger_start_and_drops(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let outcomes = [
        RunOutcome::Returned,
        RunOutcome::Threw,
        RunOutcome::LimitExceeded(Limit::Wall),
        RunOutcome::LimitExceeded(Limit::Memory),
        RunOutcome::LimitExceeded(Limit::Output),
        RunOutcome::Lost,
    ];
    let mut ends: Vec<EndedRun> = outcomes.iter().map(|one| failed(*one, "no")).collect();
    ends[0].trigger = RunTrigger::Deploy;
    ends[5].started_at_ms = T0 + MINUTE;
    ends[2].dropped.count = 1;
    let ids = end_all(&*store, &source, &ends).await;
    let outcome = |outcome| RunFilter {
        outcome: Some(outcome),
        ..RunFilter::default()
    };
    for (outcome_of, id) in outcomes.into_iter().zip(&ids) {
        let exactly = outcome(OutcomeFilter::Exactly(outcome_of));
        let found = listed_runs(&*store, &source, exactly).await;
        assert_eq!(found, std::slice::from_ref(id));
    }
    let succeeded = outcome(OutcomeFilter::Succeeded);
    assert_eq!(listed_runs(&*store, &source, succeeded).await, ids[..1]);
    let failures = outcome(OutcomeFilter::Failed);
    assert_eq!(listed_runs(&*store, &source, failures).await.len(), 5);
    let deployed = RunFilter {
        trigger: Some(RunTrigger::Deploy),
        ..RunFilter::default()
    };
    assert_eq!(listed_runs(&*store, &source, deployed).await, ids[..1]);
    let late = RunFilter {
        since_ms: Some(T0 + MINUTE),
        ..failures
    };
    assert_eq!(listed_runs(&*store, &source, late).await, ids[5..]);
    let dropped = |has_dropped| RunFilter {
        has_dropped: Some(has_dropped),
        ..RunFilter::default()
    };
    assert_eq!(
        listed_runs(&*store, &source, dropped(true)).await,
        ids[2..3]
    );
    let others = listed_runs(&*store, &source, dropped(false)).await;
    assert_eq!(others.len(), 5);
}

/// A run's events are its own, on every channel; scheduled ones are found before and after they are released.
pub async fn a_runs_events_are_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["\"before\""], T0).await;
    let plain = RunCommit {
        events: vec![event("1"), event_on(Channel::logs(), "2")],
        ..last_commit(&source, returned())
    };
    let later = RunCommit {
        events: vec![
            event_on(Channel::errors(), "3"),
            event_later(Channel::named("orders"), T0 + SECOND, "4"),
        ],
        ..last_commit(&source, returned())
    };
    for run in [&plain, &later] {
        commit(&*store, run.clone()).await.unwrap();
    }
    let found = async |run: &RunCommit, limit| -> Result<Vec<String>, StoreError> {
        let record = store.run(&run.run_id).await?.unwrap();
        let events = store.run_events(&record, limit).await?;
        let of_run =
            |event: &headwater_model::event::Event| event.run_id.as_ref() == Some(&run.run_id);
        assert!(events.iter().all(of_run));
        Ok(texts_of(&events))
    };
    assert_eq!(found(&plain, 9).await.unwrap(), ["1", "2"]);
    assert_eq!(found(&plain, 1).await.unwrap(), ["1"]);
    assert_eq!(found(&later, 9).await.unwrap(), ["3", "4"]);
    emit(&*store, &source, &["\"after\""], T0 + 3 * MS).await;
    store.release_scheduled(T0 + MINUTE, 9).await.unwrap();
    assert_eq!(found(&plain, 9).await.unwrap(), ["1", "2"]);
    assert_eq!(found(&later, 9).await.unwrap(), ["3", "4"]);
    let all = deletion(&source, ordinary(), (None, None));
    store.request_deletion(all).await.unwrap();
    assert_eq!(found(&plain, 9).await.unwrap(), ["2"]);
}

/// Those of its own, on channels that users name, within the stretch: of a run that has not ended up to the newest.
pub async fn ordinary_events_of_a_run_are_found_alone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["\"another run's\""], T0).await;
    let first = run_of(
        &source,
        vec![
            event_on(Channel::logs(), "1"),
            event("2"),
            event_later(Channel::named("orders"), T0 + MINUTE, "3"),
        ],
        T0 + MS,
    );
    let last = RunCommit {
        run_id: first.run_id.clone(),
        events: vec![
            event_on(Channel::named("orders"), "4"),
            event_on(Channel::errors(), "5"),
        ],
        ..last_commit(&source, returned())
    };
    let so_far = RunStretch {
        runnable: runnable(&source),
        run_id: first.run_id.clone(),
        since_ms: T0,
        until: None,
    };
    let found = async |stretch: &RunStretch, limit| {
        let events = store.ordinary_run_events(stretch, limit).await;
        texts_of(&events.unwrap())
    };
    commit(&*store, first.clone()).await.unwrap();
    assert_eq!(found(&so_far, 9).await, ["2"]);
    commit(&*store, last).await.unwrap();
    let stretch = store.run(&first.run_id).await.unwrap().unwrap().stretch();
    let stretch = stretch.unwrap();
    emit(&*store, &source, &["\"after\""], T0 + 3 * MS).await;
    assert_eq!(found(&stretch, 9).await, ["2", "4"]);
    assert_eq!(found(&stretch, 1).await, ["2"]);
    assert_eq!(found(&so_far, 9).await, ["2", "4"]);
    let late = RunStretch {
        since_ms: T0 + MINUTE,
        ..stretch
    };
    assert!(found(&late, 9).await.is_empty());
}

/// A run that was never queued says at its end that an earlier part scheduled events; they are found wherever they are.
pub async fn events_that_an_earlier_part_scheduled_are_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let first = RunCommit {
        events: vec![event_later(Channel::named("orders"), T0 + SECOND, "1")],
        ..run_of(&source, Vec::new(), T0 + 2 * MS)
    };
    let ended = EndedRun {
        has_scheduled: true,
        ..returned()
    };
    let last = RunCommit {
        run_id: first.run_id.clone(),
        ..last_commit(&source, ended)
    };
    commit(&*store, first).await.unwrap();
    commit(&*store, last.clone()).await.unwrap();
    for now_ms in [T0, T0 + MINUTE] {
        store.release_scheduled(now_ms, 9).await.unwrap();
        let record = store.run(&last.run_id).await.unwrap().unwrap();
        let events = store.run_events(&record, 9).await.unwrap();
        assert_eq!(texts_of(&events), ["1"]);
    }
}

/// A page of failures is not pushed out by a thousand successes, nor the other way round.
pub async fn failures_are_kept_apart_from_successes(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    let threw = failed(RunOutcome::Threw, "no");
    let failures = end_all(&*store, &source, &[threw.clone(), threw.clone()]).await;
    let successes = end_all(&*store, &source, &vec![returned(); 5]).await;
    let others = end_all(&*store, &other, &[threw, returned()]).await;
    let trim = async |store: &dyn Store, successes, failures| {
        let keep = KeptRuns {
            successes,
            failures,
        };
        let mut deleted = 0;
        loop {
            let step = store.trim_runs(keep, 2).await.unwrap();
            assert!(step.done <= 2, "a bounded step");
            deleted += step.done;
            if !step.more {
                return deleted;
            }
        }
    };
    assert_eq!(trim(&*store, 3, 2).await, 2);
    let left = listed_runs(&*store, &source, RunFilter::default()).await;
    let mut wanted = [&failures[..], &successes[2..]].concat();
    wanted.reverse();
    assert_eq!(left, wanted);
    assert_eq!(trim(&*store, 3, 2).await, 0);
    // To fewer than before, though nothing has happened since.
    let store = factory.reopen(store).await;
    assert_eq!(trim(&*store, 3, 1).await, 1);
    let left = listed_runs(&*store, &other, RunFilter::default()).await;
    assert_eq!(left, [others[1].clone(), others[0].clone()]);
}

/// Runs go with their source, in steps or at once.
pub async fn runs_end_with_their_source(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let other = deploy(&*store, epoch, &mine).await;
    let ids = end_all(&*store, &source, &vec![returned(); 3]).await;
    let kept = end_all(&*store, &other, &[returned()]).await;
    let step = store.empty_source(&source.lease, 2).await.unwrap();
    assert_eq!((step.done, step.more), (2, true));
    store.delete_source(&source.lease).await.unwrap();
    for id in &ids {
        assert!(store.run(id).await.unwrap().is_none());
    }
    assert!(store.run(&kept[0]).await.unwrap().is_some());
    let none = KeptRuns {
        successes: 0,
        failures: 0,
    };
    assert_eq!(store.trim_runs(none, 9).await.unwrap().done, 1);
}

fn summed_up(text: &str) -> NewEvent {
    NewEvent {
        summary: Some("in short".to_owned()),
        ..event(text)
    }
}

/// The deliveries of each event, to whomever; and each of them leads back to the run.
pub async fn an_events_deliveries_are_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let source = deploy(&*store, epoch, &mine).await;
    let mut webhooks = Vec::new();
    for _ in 0..3 {
        webhooks.push(listening_webhook(&*store, &mine, &source).await.id);
    }
    let run = RunCommit {
        events: vec![summed_up("1"), summed_up("2")],
        ..last_commit(&source, returned())
    };
    let run_id = run.run_id.clone();
    commit(&*store, run).await.unwrap();
    dispatch_all(&*store, 100).await;
    let events = ids(&*store, &source).await;
    let emitter = emitter(&source);
    let found = store.deliveries_of(&emitter, &events, 9).await.unwrap();
    for (found, event) in found.iter().zip(&events) {
        let to: Vec<_> = found.iter().map(|one| one.webhook_id.clone()).collect();
        assert_eq!(to, webhooks);
        for one in found {
            let delivery = store.delivery(&one.id).await.unwrap().unwrap();
            assert_eq!((delivery.event.id, delivery.state), (*event, one.state));
            assert_eq!(delivery.run_id.as_ref(), Some(&run_id));
            assert_eq!(delivery.summary.as_deref(), Some("in short"));
        }
    }
    let page = PageRequest::first(9);
    let listed = store.deliveries(&webhooks[0], None, &page).await.unwrap();
    assert!(
        listed
            .items
            .iter()
            .all(|it| it.run_id.as_ref() == Some(&run_id))
    );
    let some = store
        .deliveries_of(&emitter, &events[..1], 2)
        .await
        .unwrap();
    assert_eq!(some[0].len(), 2);
    let nothing = EventId {
        ms: T0,
        sequence: 99,
    };
    let none = store.deliveries_of(&emitter, &[nothing], 9).await.unwrap();
    assert_eq!(none, [[]]);
}

/// Runs of hooks are recorded with the settlement, and not when that is refused.
pub async fn runs_of_hooks_are_recorded_with_the_settlement(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = begin(&*store, epoch, &owner(), "source").await;
    let hook = last_commit(
        &source,
        EndedRun {
            trigger: RunTrigger::Deploy,
            ..returned()
        },
    );
    let id = hook.run_id.clone();
    let mut end = settled(&source, true, T0);
    end.commits = vec![hook];
    let mut refused = end.clone();
    refused.spec.component_id = ComponentId::new(T0, entropy());
    assert_conflict(store.settle_source(refused).await);
    assert!(store.run(&id).await.unwrap().is_none());
    store.settle_source(end).await.unwrap();
    assert_eq!(
        listed_runs(&*store, &source, RunFilter::default()).await,
        [id]
    );
}
