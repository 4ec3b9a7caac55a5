//! Commits of runs: ids, fencing, and all or nothing.

use std::time::Duration;

use headwater_model::{
    channel::Channel, dedupe, event::EmitKey, id::EventId, subscription::EmitterPattern,
    time::EpochMs,
};

use super::{
    Factory,
    dispatch::{pair, received, subscribe},
    fixture::*,
    runs::returned,
};
use crate::{
    AfterRun, ChannelFilter, Dropped, EndedRun, InvocationEnd, KvWrite, Owner, RunCommit,
    RunOutcome, RunVersion, SourceState, Spender, Store, StoreError, Usage,
};

/// Ids increase, even if the clock steps back or the store is reopened.
pub async fn event_ids_increase_across_reopen_and_when_the_clock_steps_back(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["1", "2"], T0).await;
    emit(&*store, &source, &["3"], T0.minus(MINUTE)).await;
    let store = factory.reopen(store).await;
    emit(&*store, &source, &["4"], T0.minus(2 * MINUTE)).await;
    emit(&*store, &source, &["5"], T0 + MS).await;
    assert_eq!(texts(&*store, &source).await, ["5", "4", "3", "2", "1"]);
    let ids = ids(&*store, &source).await;
    let at = |ms, sequence| EventId { ms, sequence };
    assert_eq!(
        ids,
        [at(T0, 0), at(T0, 1), at(T0, 2), at(T0, 3), at(T0 + MS, 0)]
    );
}

/// An id is never given twice, even when nothing is left to compare with.
pub async fn event_ids_increase_after_all_events_were_deleted(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["1", "2"], T0).await;
    let last = ids(&*store, &source).await[1];
    let all = deletion(&source, ordinary(), (None, None));
    store.request_deletion(all).await.unwrap();
    run_all_deletions(&*store, 100).await;
    let store = factory.reopen(store).await;
    emit(&*store, &source, &["3"], T0.minus(MINUTE)).await;
    assert!(ids(&*store, &source).await[0] > last);
}

/// Ids of one emitter increase over all its channels together.
pub async fn channels_of_an_emitter_share_its_ids(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let events = vec![
        event("1"),
        event_on(Channel::errors(), "2"),
        event_on(Channel::named("orders"), "3"),
    ];
    commit(&*store, run_of(&source, events, T0)).await.unwrap();
    let mut ids = Vec::new();
    for channel in [
        Channel::default(),
        Channel::errors(),
        Channel::named("orders"),
    ] {
        let filter = crate::ChannelFilter::Named(channel);
        ids.extend(
            listed(&*store, &source, &filter)
                .await
                .iter()
                .map(|event| event.id),
        );
    }
    let sequence: Vec<u32> = ids.iter().map(|id| id.sequence).collect();
    assert_eq!(sequence, [0, 1, 2]);
}

/// Everything that a caller gave comes back as it was, to the byte.
pub async fn an_event_is_kept_byte_for_byte(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let text = "{ \"b\":1.0,  \"a\": 12345678901234567890123, \"u\":\"\\u00e9\u{e9}\\u0000\" }";
    let mut event = event_on(Channel::named("naïve"), text);
    event.key = Some(EmitKey::Text("7".to_owned()));
    event.summary = Some("a line\nof text".to_owned());
    event.ts = Some(1.5e12 + 0.25);
    commit(&*store, run_of(&source, vec![event], T0 + 5 * MS))
        .await
        .unwrap();
    let store = factory.reopen(store).await;
    let kept = listed(&*store, &source, &ordinary()).await.remove(0);
    assert_eq!(kept.event.get(), text);
    assert_eq!(kept.key, Some(EmitKey::Text("7".to_owned())));
    assert_eq!(kept.summary.as_deref(), Some("a line\nof text"));
    assert_eq!(kept.ts, Some(1.5e12 + 0.25));
    assert_eq!(kept.channel, Channel::named("naïve"));
    assert_eq!(kept.indexed_at_ms, T0 + 5 * MS);
}

/// A numeric key stays a number.
pub async fn a_number_as_key_stays_a_number(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let mut event = event("1");
    event.key = Some(EmitKey::Number(7.into()));
    commit(&*store, run_of(&source, vec![event], T0))
        .await
        .unwrap();
    let kept = listed(&*store, &source, &ordinary()).await.remove(0);
    assert_eq!(kept.key, Some(EmitKey::Number(7.into())));
}

/// A run's effects of every kind.
fn full_commit(source: &Leased) -> RunCommit {
    RunCommit {
        dedupe: Some(dedupe::State::Last {
            id: Some("7".to_owned()),
        }),
        kv_writes: vec![KvWrite {
            key: "cursor".to_owned(),
            value: Some(json("7")),
        }],
        usage: Usage {
            invocations: 1,
            compute_ms: 20,
        },
        ..run_of(source, vec![event("7")], T0)
    }
}

/// Channels, keys and summaries have any length and any characters.
pub async fn texts_have_any_length_and_characters(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let other = deploy(&*store, epoch, &mine).await;
    // Too varied to be kept in much less.
    let long: String = (0..4000_u32)
        .filter_map(|number| char::from_u32(0x4E00 + number * 7919 % 20_000))
        .collect();
    let texts = ["\0", "\u{1}"].map(|end| format!("{long}{end}"));
    let channels = texts.clone().map(Channel::named);
    for (channel, listener) in channels.iter().zip([&to, &other]) {
        for _ in 0..2 {
            let from = EmitterPattern::One(emitter(&from));
            subscribe(&*store, &mine, from, listener, channel.clone()).await;
        }
    }
    let events = channels.iter().zip(["1", "2"]).map(|(channel, text)| {
        let mut event = event_on(channel.clone(), text);
        event.summary = Some(channel.name().to_owned());
        event
    });
    let writes = texts.iter().zip(["1", "2"]).map(|(key, value)| KvWrite {
        key: key.clone(),
        value: Some(json(value)),
    });
    let run = RunCommit {
        kv_writes: writes.clone().chain(writes).collect(),
        ..run_of(&from, events.collect(), T0)
    };
    commit(&*store, run).await.unwrap();
    let store = factory.reopen(store).await;
    for channel in &channels {
        let found = listed(&*store, &from, &ChannelFilter::Named(channel.clone())).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].channel, *channel);
        assert_eq!(found[0].summary.as_deref(), Some(channel.name()));
    }
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
    assert_eq!(received(&*store, &other, epoch).await, ["2"]);
    let kept = store.key_values(&runnable(&from)).await.unwrap();
    assert_eq!(
        serde_json::Value::Object(kept),
        serde_json::json!({ texts[0].clone(): 1, texts[1].clone(): 2 })
    );
}

/// However many arrive while others are being written, of however many sources, each is written or refused on its own.
pub async fn commits_at_the_same_time_are_each_written_or_refused(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (one, other, lost) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    store.release_runnable(&lost.lease).await.unwrap();
    let run = |source: &Leased, text| RunCommit {
        ended: Some(returned()),
        ..run_of(source, vec![event(text)], T0)
    };
    let (mine, nowhere) = (run(&one, "2"), run(&lost, "1"));
    let commit = |runs: Vec<RunCommit>| store.commit_runs(runs.into());
    let (first, mixed, refused, of_other) = tokio::join!(
        commit(vec![run(&one, "1")]),
        commit(vec![mine.clone(), nowhere, run(&other, "1"), mine.clone()]),
        commit(vec![run(&lost, "2")]),
        commit(vec![run(&other, "2"), run(&other, "3")]),
    );
    let outcome = |results: Vec<Result<(), StoreError>>| {
        let each = results.into_iter();
        each.map(|result| match result {
            Ok(()) => true,
            Err(StoreError::Conflict(_)) => false,
            Err(error) => panic!("{error}"),
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(outcome(first), [true]);
    assert_eq!(outcome(mixed), [true, false, true, true]);
    assert_eq!(outcome(refused), [false]);
    assert_eq!(outcome(of_other), [true, true]);
    let store = factory.reopen(store).await;
    assert_eq!(texts(&*store, &one).await, ["2", "2", "1"]);
    assert_eq!(texts(&*store, &other).await, ["3", "2", "1"]);
    assert!(texts(&*store, &lost).await.is_empty());
    assert!(store.run(&mine.run_id).await.unwrap().is_some());
}

/// Keys that several runs of a batch write have the value of the last one.
pub async fn the_last_write_of_a_key_in_a_batch_counts(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (one, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    let run = |source: &Leased, writes: &[(&str, Option<&str>)]| RunCommit {
        kv_writes: writes
            .iter()
            .map(|(key, value)| KvWrite {
                key: (*key).to_owned(),
                value: value.map(json),
            })
            .collect(),
        ..run_of(source, Vec::new(), T0)
    };
    let commits = vec![
        run(
            &one,
            &[("a", Some("1")), ("b", Some("1")), ("c", Some("1"))],
        ),
        run(&other, &[("a", Some("8"))]),
        run(&one, &[("a", None), ("b", Some("2")), ("a", Some("3"))]),
        run(&one, &[("c", None), ("d", Some("4")), ("d", None)]),
    ];
    for result in store.commit_runs(commits.into()).await {
        result.unwrap();
    }
    let values = async |source: &Leased| {
        let values = store.key_values(&runnable(source)).await.unwrap();
        serde_json::Value::Object(values)
    };
    assert_eq!(values(&one).await, serde_json::json!({"a": 3, "b": 2}));
    assert_eq!(values(&other).await, serde_json::json!({"a": 8}));
}

async fn assert_nothing_was_written(store: &dyn crate::Store, source: &Leased) {
    assert!(texts(store, source).await.is_empty());
    assert!(
        store
            .key_values(&runnable(source))
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(store.dedupe_state(&runnable(source)).await.unwrap(), None);
    let usage = spent(store, source).await;
    assert_eq!(usage, Usage::default());
}

/// A commit writes all that the run did, and ends the invocation.
pub async fn a_commit_writes_everything_together(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    commit(&*store, run).await.unwrap();
    let store = factory.reopen(store).await;
    assert_eq!(texts(&*store, &source).await, ["7"]);
    assert_eq!(
        store.key_values(&runnable(&source)).await.unwrap()["cursor"],
        7
    );
    let state = store.dedupe_state(&runnable(&source)).await.unwrap();
    assert_eq!(state, full_commit(&source).dedupe);
    let usage = spent(&*store, &source).await;
    assert_eq!(usage, full_commit(&source).usage);
    let epoch = store.start_node(&node(), T0).await.unwrap();
    assert!(
        claim_all(&*store, &source.id, epoch, T0 + MINUTE)
            .await
            .is_empty()
    );
}

/// A node that was thought dead cannot write.
pub async fn a_commit_is_refused_after_the_node_started_anew(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    let store = factory.reopen(store).await;
    let next = store.start_node(&node(), T0).await.unwrap();
    assert!(next > epoch);
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    assert_conflict(commit(&*store, run).await);
    assert_nothing_was_written(&*store, &source).await;
    assert_eq!(claim_all(&*store, &source.id, next, T0).await.len(), 1);
}

/// Only the latest attempt counts, even within one epoch.
pub async fn a_commit_is_refused_after_a_later_attempt_claimed_the_invocation(
    factory: &dyn Factory,
) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    let later = claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    assert_conflict(commit(&*store, run).await);
    assert_nothing_was_written(&*store, &source).await;
    commit(&*store, end_of(&later[0])).await.unwrap();
}

/// A lease that was given back cannot commit any more.
pub async fn a_commit_is_refused_after_the_lease_was_given_back(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    store.release(lease.as_ref().unwrap(), None).await.unwrap();
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    assert_conflict(commit(&*store, run).await);
    assert_nothing_was_written(&*store, &source).await;
}

/// The second time, nothing is written.
pub async fn completing_twice_writes_once(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    commit(&*store, run.clone()).await.unwrap();
    assert_conflict(commit(&*store, run).await);
    assert_eq!(texts(&*store, &source).await, ["7"]);
}

/// A lease is the right to run one source's invocation, not another's.
pub async fn a_commit_is_refused_with_the_lease_of_another_source(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    let lease = store
        .enqueue(manual(&other.id, "1"), held(&other, epoch))
        .await
        .unwrap();
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    assert_conflict(commit(&*store, run).await);
    assert_nothing_was_written(&*store, &source).await;
}

/// A slow run is not thrown away as long as nobody repeats it.
pub async fn a_run_that_outlives_its_lease_commits_if_nobody_took_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    let late = RunCommit {
        invocation: ended(lease),
        now_ms: T0 + MINUTE,
        ..full_commit(&source)
    };
    commit(&*store, late).await.unwrap();
    assert_eq!(texts(&*store, &source).await, ["7"]);
}

/// The effects of a run are discarded when its source is deleted.
pub async fn a_commit_is_refused_after_the_source_was_deleted(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    store.delete_source(&source.lease).await.unwrap();
    assert_conflict(commit(&*store, full_commit(&source)).await);
    let run = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    assert_conflict(commit(&*store, run).await);
    assert_nothing_was_written(&*store, &source).await;
}

/// Runs that are under way end normally: `deactivate` emits as the last thing.
pub async fn a_source_that_is_inactive_or_being_deleted_may_still_commit(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    for state in [SourceState::Inactive, SourceState::Deleting] {
        store.set_source_state(&source.lease, state).await.unwrap();
        emit(&*store, &source, &["1"], T0).await;
    }
    assert_eq!(texts(&*store, &source).await.len(), 2);
}

/// A refused commit leaves its neighbours alone, before and behind it.
pub async fn a_refused_commit_in_the_middle_of_a_batch_takes_nothing_with_it(
    factory: &dyn Factory,
) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    let lease = store
        .enqueue(manual(&other.id, "1"), held(&other, epoch))
        .await
        .unwrap();
    claim_all(&*store, &other.id, epoch, T0 + MINUTE).await;
    let lost = RunCommit {
        invocation: ended(lease),
        ..full_commit(&other)
    };
    let results = store
        .commit_runs(
            [
                run_of(&source, vec![event("1")], T0),
                lost,
                run_of(&source, vec![event("2")], T0),
            ]
            .into(),
        )
        .await;
    let kept: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(kept, [true, false, true]);
    assert_eq!(texts(&*store, &source).await, ["2", "1"]);
    assert_nothing_was_written(&*store, &other).await;
}

/// The state of a later run counts the events of the refused one, which would be dropped as known when that one is run
/// again. A run without a state goes on.
pub async fn a_dedupe_state_behind_a_refused_one_is_refused(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    let lost = RunCommit {
        invocation: ended(lease),
        ..full_commit(&source)
    };
    let behind = full_commit(&source);
    let stateless = run_of(&source, vec![event("8")], T0);
    let results = store.commit_runs([lost, behind, stateless].into()).await;
    let kept: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(kept, [false, false, true]);
    assert_eq!(texts(&*store, &source).await, ["8"]);
    assert_eq!(store.dedupe_state(&runnable(&source)).await.unwrap(), None);
}

/// Commits of a batch apply in its order.
pub async fn a_batch_is_committed_in_its_order(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let runs = (0..20)
        .map(|number: u32| run_of(&source, vec![event(&number.to_string())], T0))
        .collect();
    let results = store.commit_runs(runs).await;
    assert!(results.iter().all(Result::is_ok));
    let newest_first: Vec<String> = (0..20)
        .rev()
        .map(|number: u32| number.to_string())
        .collect();
    assert_eq!(texts(&*store, &source).await, newest_first);
    assert!(store.commit_runs([].into()).await.is_empty());
}

fn checkpoint(work: &Work, state: &str, due_at_ms: EpochMs) -> RunCommit {
    RunCommit {
        invocation: Some(InvocationEnd {
            lease: work.lease.clone(),
            then: AfterRun::Checkpoint {
                state: json(state),
                due_at_ms,
            },
        }),
        ..end_of(work)
    }
}

/// A checkpoint keeps the invocation's id, event and origin, and its starts are counted anew.
pub async fn a_checkpoint_goes_on_with_its_state_when_it_is_due(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let queued = manual(&source.id, "{ \"a\": 1.0 }");
    store.enqueue(queued.clone(), None).await.unwrap();
    claim_all(&*store, &source.id, epoch, T0).await;
    let second = claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    assert_eq!((second[0].starts, second[0].state.is_none()), (2, true));
    let events = vec![event_later(Channel::default(), T0 + SECOND, "1")];
    let step = RunCommit {
        events,
        ..checkpoint(&second[0], "{ \"step\":  2 }", T0 + 5 * MINUTE)
    };
    commit(&*store, step).await.unwrap();
    let store = factory.reopen(store).await;
    let early = claim_all(&*store, &source.id, epoch, T0 + (5 * MINUTE - MS)).await;
    assert!(early.is_empty());
    let third = claim_all(&*store, &source.id, epoch, T0 + 5 * MINUTE).await;
    let third = &third[0];
    assert_eq!(third.lease.invocation_id, queued.id);
    assert_eq!(third.event.get(), queued.event.get());
    assert_eq!(third.state.as_ref().unwrap().get(), "{ \"step\":  2 }");
    assert_eq!((third.starts, third.queued_at_ms), (1, T0));
    let ended = EndedRun {
        version: RunVersion::Component(source.spec.component_id.clone()),
        trigger: queued.trigger.into(),
        replay_of: None,
        queued_at_ms: T0,
        started_at_ms: T0,
        ended_at_ms: T0,
        outcome: RunOutcome::Returned,
        error: None,
        emitted: 1,
        dropped: Dropped::default(),
        has_scheduled: false,
        origin: queued.origin,
        facts: crate::RunFacts::default(),
    };
    let end = RunCommit {
        ended: Some(ended),
        ..end_of(third)
    };
    commit(&*store, end).await.unwrap();
    let record = store.run(&queued.id).await.unwrap().unwrap();
    assert!(record.ended.has_scheduled, "its first part had");
    let found = store.run_events(&record, 9).await.unwrap();
    assert_eq!(texts_of(&found), ["1"]);
}

/// A checkpoint is a commit like any other.
pub async fn a_checkpoint_is_refused_after_its_lease_was_lost(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let queued = manual(&source.id, "1");
    store.enqueue(queued, None).await.unwrap();
    let first = claim_all(&*store, &source.id, epoch, T0).await;
    let second = claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    assert_conflict(commit(&*store, checkpoint(&first[0], "1", EpochMs(0))).await);
    commit(&*store, checkpoint(&second[0], "2", EpochMs(0)))
        .await
        .unwrap();
    assert_conflict(commit(&*store, checkpoint(&second[0], "3", EpochMs(0))).await);
    let third = claim_all(&*store, &source.id, epoch, T0).await;
    assert_eq!(third[0].state.as_ref().unwrap().get(), "2");
}

/// Writes to `$.service.db` apply in order; the last one to a key stands.
pub async fn key_values_are_set_overwritten_and_deleted(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    let set = |key: &str, value: Option<&str>| KvWrite {
        key: key.to_owned(),
        value: value.map(json),
    };
    let writes = |kv_writes| RunCommit {
        kv_writes,
        ..run_of(&source, Vec::new(), T0)
    };
    let first = vec![
        set("a", Some("1")),
        set("b", Some("{\"x\":[null]}")),
        set("a", Some("2")),
        set("", Some("\"empty\"")),
    ];
    commit(&*store, writes(first)).await.unwrap();
    let second = vec![set("b", None), set("never", None), set("a", Some("3"))];
    commit(&*store, writes(second)).await.unwrap();
    let store = factory.reopen(store).await;
    let kept = serde_json::Value::Object(store.key_values(&runnable(&source)).await.unwrap());
    assert_eq!(kept, serde_json::json!({ "": "empty", "a": 3 }));
    assert!(
        store
            .key_values(&runnable(&other))
            .await
            .unwrap()
            .is_empty()
    );
}

/// The cost of runs is added up per user, per workspace and per UTC day.
pub async fn usage_counts_per_user_workspace_and_utc_day(factory: &dyn Factory) {
    const DAY: Duration = Duration::from_hours(24);
    let (store, epoch) = start(factory).await;
    let (shared, alone) = (workspace_owner(), owner());
    let private = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let colleague = Owner {
        workspace_id: shared.workspace_id.clone(),
        ..owner()
    };
    let day_ms = DAY.as_millis() as u64;
    let midnight = EpochMs(T0.0 / day_ms * day_ms) + DAY;
    for (owner, now_ms) in [
        (&shared, midnight.minus(MS)),
        (&private, midnight.minus(MS)),
        (&colleague, midnight.minus(MS)),
        (&shared, midnight),
        (&alone, midnight),
    ] {
        let run = RunCommit {
            now_ms,
            ..full_commit(&deploy(&*store, epoch, owner).await)
        };
        commit(&*store, run).await.unwrap();
    }
    let store = factory.reopen(store).await;
    let user = Spender::User(shared.user_id.clone());
    let workspace = Spender::Workspace(shared.workspace_id.clone().unwrap());
    let invocations = async |spender: &Spender, since_ms, until_ms| {
        let usage = store.usage(spender, since_ms, until_ms).await.unwrap();
        assert_eq!(usage.compute_ms, 20 * usage.invocations);
        usage.invocations
    };
    for spender in [&user, &workspace] {
        assert_eq!(invocations(spender, T0, T0).await, 2);
        assert_eq!(invocations(spender, midnight, midnight + 5 * MS).await, 1);
        assert_eq!(
            invocations(spender, midnight + DAY, midnight + DAY).await,
            0
        );
        assert_eq!(invocations(spender, T0.minus(DAY), midnight + DAY).await, 3);
    }
    let alone = Spender::User(alone.user_id);
    assert_eq!(invocations(&alone, T0, midnight).await, 1);
    let colleague = Spender::User(colleague.user_id);
    assert_eq!(invocations(&colleague, T0, midnight).await, 1);
}

async fn spent(store: &dyn Store, source: &Leased) -> Usage {
    let user = Spender::User(source.owner.user_id.clone());
    store.usage(&user, T0, T0).await.unwrap()
}
