//! The queue of invocations: leases, order and due times.

use std::collections::BTreeSet;

use headwater_model::{id::RunnableId, origin::Origin, time::EpochMs};

use super::{
    Factory,
    deliveries::{RETRY, one_claimed, record, waiting},
    fixture::*,
};
use crate::{
    AfterAttempt, AfterRun, Backlog, Claimed, Conflict, InvocationEnd, LeaseTerm, NewInvocation,
    NodeEpoch, RunCommit, SourceState, Store, StoreError, Taken, Trigger, WorkLimit,
};

/// Each start of the node is a new epoch.
pub async fn epochs_increase_across_reopen(factory: &dyn Factory) {
    let (store, first) = start(factory).await;
    let second = store.start_node(&node(), T0.minus(MINUTE)).await.unwrap();
    let store = factory.reopen(store).await;
    let third = store.start_node(&node(), T0).await.unwrap();
    assert!(first < second && second < third);
}

/// A queued invocation runs even if the node fails, and reads back unchanged.
pub async fn an_enqueued_invocation_is_claimed_as_it_was_given(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let given = NewInvocation {
        trigger: Trigger::Http,
        hops: 3,
        now_ms: T0 + 7 * MS,
        origin: Origin {
            request_id: Some("mine-1".into()),
            trace: Some(trace()),
        },
        ..manual(&source.id, "{ \"a\":  1.0 }")
    };
    let lease = store.enqueue(given.clone(), None).await.unwrap();
    assert_eq!(lease, None);
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let claimed = claim_all(&*store, &source.id, epoch, T0 + 9 * MS)
        .await
        .remove(0);
    assert_eq!(claimed.lease.invocation_id, given.id);
    assert_eq!((claimed.lease.epoch, claimed.lease.attempt), (epoch, 1));
    assert_eq!(claimed.runnable, runnable(&source));
    assert_eq!(claimed.trigger, Trigger::Http);
    assert_eq!(claimed.origin, given.origin);
    assert_eq!(claimed.event.get(), "{ \"a\":  1.0 }");
    assert_eq!(
        (claimed.hops, claimed.queued_at_ms, claimed.starts),
        (3, T0 + 7 * MS, 1)
    );
    // A run that comes with its lease is the same as one that is claimed.
    let at_once = Claimed::at_once(given, claimed.lease.clone());
    assert_eq!(format!("{at_once:?}"), format!("{:?}", *claimed));
}

/// Triggers of a source that takes none are refused, so that their caller is told.
pub async fn enqueue_is_refused_for_a_source_that_takes_no_triggers(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    for state in [SourceState::Inactive, SourceState::Deleting] {
        store.set_source_state(&source.lease, state).await.unwrap();
        assert_conflict(store.enqueue(manual(&source.id, "1"), None).await);
    }
    for state in [
        SourceState::Deploying,
        SourceState::Updating,
        SourceState::Active,
    ] {
        store.set_source_state(&source.lease, state).await.unwrap();
        store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    }
    store.delete_source(&source.lease).await.unwrap();
    assert_conflict(store.enqueue(manual(&source.id, "1"), None).await);
}

/// However many arrive while others are being queued, each is queued or refused on its own, and they stay in their order.
pub async fn invocations_at_the_same_time_are_each_queued_or_refused(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other, inactive) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    let state = SourceState::Inactive;
    store
        .set_source_state(&inactive.lease, state)
        .await
        .unwrap();
    let twice = manual(&source.id, "2");
    let queue = |invocation, lease| store.enqueue(invocation, lease);
    let (first, leased, of_other, refused, once, again, last) = tokio::join!(
        queue(manual(&source.id, "1"), None),
        queue(manual(&other.id, "1"), held(&other, epoch)),
        queue(manual(&other.id, "2"), held(&source, epoch)),
        queue(manual(&inactive.id, "1"), None),
        queue(twice.clone(), None),
        queue(twice.clone(), None),
        queue(manual(&source.id, "3"), None),
    );
    assert_eq!(leased.unwrap().unwrap().attempt, 1);
    for unleased in [first, of_other, once, last] {
        assert_eq!(unleased.unwrap(), None);
    }
    assert_conflict(refused);
    let taken = Conflict::Taken(Taken::Invocation(twice.id));
    assert!(matches!(again, Err(StoreError::Conflict(conflict)) if conflict == taken));
    let queued = claim_all(&*store, &source.id, epoch, T0).await;
    assert_eq!(given(&queued), ["1", "2", "3"]);
    let queued = claim_all(&*store, &other.id, epoch, T0).await;
    assert_eq!(given(&queued), ["2"]);
}

/// As long as a lease holds, nobody else gets the invocation.
pub async fn a_claim_never_hands_out_a_held_lease(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let until = term(epoch).expires_at_ms;
    store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    store.enqueue(manual(&source.id, "2"), None).await.unwrap();
    assert_eq!(
        given(&claim_all(&*store, &source.id, epoch, T0).await),
        ["2"]
    );
    assert!(
        claim_all(&*store, &source.id, epoch, until.minus(MS))
            .await
            .is_empty()
    );
}

/// It is claimed once more, and nothing else is: neither what another claim leased, nor what another source has.
pub async fn work_of_a_lost_claim_is_given_back(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    let term = |later| LeaseTerm {
        expires_at_ms: term(epoch).expires_at_ms + later,
        ..term(epoch)
    };
    let claim = async |of: &Leased, term, count| {
        let claimed = store.claim(&of.lease, term, T0, WorkLimit::of(count));
        claimed.await.unwrap()
    };
    for text in ["1", "2", "3"] {
        store.enqueue(manual(&source.id, text), None).await.unwrap();
    }
    store.enqueue(manual(&other.id, "4"), None).await.unwrap();
    let kept = claim(&source, term(MS), 1).await;
    let lost = claim(&source, term(2 * MS), 1).await;
    claim(&other, term(2 * MS), 1).await;
    let runnable = source.lease.runnable.clone();
    store.release_claim(&runnable, term(2 * MS)).await.unwrap();
    let again = claim(&source, term(3 * MS), 9).await;
    assert_eq!((given(&kept), given(&lost)), (vec!["1"], vec!["2"]));
    assert_eq!(given(&again), ["2", "3"]);
    assert_eq!(again[0].starts, 1, "nobody has begun it");
    assert!(claim(&other, term(3 * MS), 9).await.is_empty());
}

/// One that waits is leased by its id, before its time and past the others; not one that is held, or of another source.
pub async fn one_invocation_is_claimed_by_its_id(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    let later = NewInvocation {
        due_at_ms: T0 + MINUTE,
        ..manual(&source.id, "2")
    };
    let taken = manual(&source.id, "3");
    let of_source = [manual(&source.id, "1"), later.clone(), taken.clone()];
    for (invocation, lease) in of_source
        .into_iter()
        .zip([None, None, held(&source, epoch)])
    {
        store.enqueue(invocation, lease).await.unwrap();
    }
    let claim = async |of: &Leased, id| {
        let claimed = store.claim_one(&of.lease, term(epoch), T0, id).await;
        claimed.unwrap()
    };
    assert!(claim(&other, &later.id).await.is_none());
    assert!(claim(&source, &taken.id).await.is_none());
    let claimed = claim(&source, &later.id).await.unwrap();
    assert_eq!(claimed.event.get(), "2");
    assert_eq!((claimed.lease.attempt, claimed.starts), (1, 1));
    assert!(claim(&source, &later.id).await.is_none(), "it is held now");
    let stranger = LeaseTerm {
        epoch: NodeEpoch(epoch.0 + 1),
        ..term(epoch)
    };
    let refused = store.claim_one(&source.lease, stranger, T0, &later.id);
    assert_conflict(refused.await);
    let end = end_of_lease(&source, &claimed.lease);
    commit(&*store, end).await.unwrap();
    assert!(claim(&source, &later.id).await.is_none(), "it has ended");
    assert_eq!(
        given(&claim_all(&*store, &source.id, epoch, T0).await),
        ["1"]
    );
}

/// Two concurrent claims never get the same invocation.
pub async fn claims_at_the_same_time_share_the_work(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    for _ in 0..20 {
        store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    }
    let claim = || store.claim(&source.lease, term(epoch), T0, WorkLimit::of(7));
    let (one, two, three) = tokio::join!(claim(), claim(), claim());
    let all: Vec<_> = [one, two, three]
        .into_iter()
        .flat_map(Result::unwrap)
        .collect();
    let different: BTreeSet<_> = all
        .iter()
        .map(|claimed| &claimed.lease.invocation_id)
        .collect();
    assert_eq!((all.len(), different.len()), (20, 20));
}

/// A lease ends by itself at its time.
pub async fn an_expired_lease_is_claimable(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let until = term(epoch).expires_at_ms;
    store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap();
    let claimed = claim_all(&*store, &source.id, epoch, until).await;
    assert_eq!(claimed[0].lease.attempt, 2);
    assert_eq!(claimed[0].starts, 2);
}

/// First come, first served, also for what was given back or expired.
pub async fn the_oldest_invocation_is_claimed_first(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    for text in ["1", "2", "3", "4"] {
        store.enqueue(manual(&source.id, text), None).await.unwrap();
    }
    let first = store
        .claim(&source.lease, term(epoch), T0, WorkLimit::of(2))
        .await
        .unwrap();
    assert_eq!(given(&first), ["1", "2"]);
    store.release(&first[0].lease, None).await.unwrap();
    let next = store
        .claim(&source.lease, term(epoch), T0, WorkLimit::of(2))
        .await
        .unwrap();
    assert_eq!(given(&next), ["1", "3"]);
    let rest = claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    assert_eq!(given(&rest), ["1", "2", "3", "4"]);
}

/// A claim with little room gets little, and a larger invocation alone.
pub async fn a_claim_takes_no_more_bytes_than_there_is_room_for(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    for text in ["1000", "20", "30", "4", "5"] {
        store.enqueue(manual(&source.id, text), None).await.unwrap();
    }
    let claim = async |bytes| {
        let limit = WorkLimit {
            bytes,
            ..WorkLimit::of(2)
        };
        let claimed = store.claim(&source.lease, term(epoch), T0, limit).await;
        let claimed = claimed.unwrap();
        assert_eq!(limit.is_reached_by(&claimed), !claimed.is_empty());
        given(&claimed).join(" ")
    };
    assert_eq!(claim(1).await, "1000");
    assert_eq!(claim(3).await, "20 30");
    assert_eq!(claim(1).await, "4");
    let rest = WorkLimit {
        bytes: 100,
        ..WorkLimit::of(2)
    };
    let claimed = store.claim(&source.lease, term(epoch), T0, rest).await;
    let claimed = claimed.unwrap();
    assert_eq!(given(&claimed), ["5"]);
    assert!(!rest.is_reached_by(&claimed));
}

/// A claim takes one source's work only.
pub async fn a_claim_takes_one_sources_work(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    store.enqueue(manual(&other.id, "2"), None).await.unwrap();
    assert_eq!(
        given(&claim_all(&*store, &other.id, epoch, T0).await),
        ["2"]
    );
}

/// Giving back does not count as a failed start.
pub async fn a_released_lease_is_claimable_and_not_counted_as_a_start(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap()
        .unwrap();
    store.release(&lease, None).await.unwrap();
    store.release(&lease, None).await.unwrap();
    let claimed = claim_all(&*store, &source.id, epoch, T0).await;
    assert_eq!((claimed[0].lease.attempt, claimed[0].starts), (2, 1));
    // The former lease is lost: giving it back once more changes nothing.
    store.release(&lease, None).await.unwrap();
    assert!(claim_all(&*store, &source.id, epoch, T0).await.is_empty());
}

/// Starts that ended with their node are counted.
pub async fn starts_count_leases_that_were_never_given_back(factory: &dyn Factory) {
    let (store, mut epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    for starts in 1..=3 {
        let claimed = claim_all(&*store, &source.id, epoch, T0).await;
        assert_eq!(claimed[0].starts, starts);
        epoch = store.start_node(&node(), T0).await.unwrap();
    }
}

/// A held lease lasts longer, a lost one does not come back.
pub async fn extending_prolongs_held_leases_only(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let kept = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap()
        .unwrap();
    let lost = store
        .enqueue(manual(&source.id, "2"), held(&source, epoch))
        .await
        .unwrap()
        .unwrap();
    store.release(&lost, None).await.unwrap();
    let both = [lost, kept.clone()];
    store.extend_leases(&both, T0 + MINUTE).await.unwrap();
    assert_eq!(
        given(&claim_all(&*store, &source.id, epoch, T0 + (MINUTE - MS)).await),
        ["2"]
    );
    assert_eq!(
        given(&claim_all(&*store, &source.id, epoch, T0 + MINUTE).await),
        ["1"]
    );
    store
        .extend_leases(&[kept], T0 + 100 * MINUTE)
        .await
        .unwrap();
    assert_eq!(
        claim_all(&*store, &source.id, epoch, T0 + 9 * MINUTE)
            .await
            .len(),
        2
    );
}

/// A source is found as long as somebody should claim its work.
pub async fn runnables_with_work_are_those_with_invocations_that_nobody_holds(
    factory: &dyn Factory,
) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (idle, busy) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    assert!(
        store
            .runnables_with_work(epoch, T0, None, 10)
            .await
            .unwrap()
            .is_empty()
    );
    for _ in 0..3 {
        store.enqueue(manual(&busy.id, "1"), None).await.unwrap();
    }
    let term = LeaseTerm {
        epoch,
        expires_at_ms: T0 + SECOND,
    };
    store
        .enqueue(manual(&idle.id, "1"), Some((idle.lease.clone(), term)))
        .await
        .unwrap();
    assert_eq!(
        store
            .runnables_with_work(epoch, T0, None, 10)
            .await
            .unwrap(),
        [runnable(&busy)]
    );
    let expired = store
        .runnables_with_work(epoch, T0 + SECOND, None, 10)
        .await
        .unwrap();
    assert_eq!(
        expired.iter().collect::<BTreeSet<_>>(),
        BTreeSet::from([&runnable(&idle), &runnable(&busy)])
    );
    assert_eq!(
        store
            .runnables_with_work(epoch, T0 + SECOND, None, 1)
            .await
            .unwrap()
            .len(),
        1
    );
}

/// Invocations that can never run are not offered.
pub async fn inactive_sources_have_no_work(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    for state in [SourceState::Inactive, SourceState::Deleting] {
        store.set_source_state(&source.lease, state).await.unwrap();
        assert!(
            store
                .runnables_with_work(epoch, T0, None, 10)
                .await
                .unwrap()
                .is_empty()
        );
    }
}

/// The backlog has queued and running invocations, and events not yet dispatched.
pub async fn the_backlog_is_what_has_not_ended(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    assert_eq!(store.backlog(T0).await.unwrap(), Backlog::default());
    let source = deploy(&*store, epoch, &owner()).await;
    for now_ms in [T0 + 3 * MS, T0 + 5 * MS] {
        let invocation = NewInvocation {
            now_ms,
            ..manual(&source.id, "1")
        };
        store.enqueue(invocation, None).await.unwrap();
    }
    let backlog = |invocations, oldest, undispatched_events| Backlog {
        invocations,
        oldest_invocation_at_ms: oldest,
        undispatched_events,
        ..Backlog::default()
    };
    let seen = store.backlog(T0).await.unwrap();
    assert_eq!(seen, backlog(2, Some(T0 + 3 * MS), 0));

    let claimed = store
        .claim(&source.lease, term(epoch), T0 + 9 * MS, WorkLimit::of(1))
        .await;
    let first = claimed.unwrap().remove(0);
    let seen = store.backlog(T0).await.unwrap();
    assert_eq!(
        seen,
        backlog(2, Some(T0 + 3 * MS), 0),
        "a run has not ended yet"
    );
    let run = RunCommit {
        events: vec![event("1"), event("2")],
        ..end_of_lease(&source, &first.lease)
    };
    commit(&*store, run).await.unwrap();
    let seen = store.backlog(T0).await.unwrap();
    assert_eq!(seen, backlog(1, Some(T0 + 5 * MS), 2));
    dispatch_all(&*store, 10).await;
    let seen = store.backlog(T0).await.unwrap();
    assert_eq!(seen, backlog(1, Some(T0 + 5 * MS), 0));
}

/// However many there are, and however little of it is done meanwhile.
pub async fn all_runnables_with_work_are_reached_in_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let mut ids = Vec::new();
    for _ in 0..5 {
        let source = deploy(&*store, epoch, &mine).await;
        for text in ["1", "2"] {
            let invocation = manual(&source.id, text);
            store.enqueue(invocation, None).await.unwrap();
        }
        ids.push(runnable(&source));
    }
    deploy(&*store, epoch, &mine).await;
    let mut reached: Vec<RunnableId> = Vec::new();
    for count in [2, 2, 1, 0] {
        let last = reached.last();
        let step = store.runnables_with_work(epoch, T0, last, 2).await.unwrap();
        assert_eq!(step.len(), count);
        reached.extend(step);
    }
    assert_eq!(reached, ids);
}

/// The backlog has the deliveries that have not ended, and those that are due.
pub async fn the_backlog_has_the_deliveries_that_have_not_ended(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let seen = |backlog: Backlog| (backlog.pending_deliveries, backlog.due_deliveries);
    assert_eq!(seen(store.backlog(T0).await.unwrap()), (3, 3));
    let first = one_claimed(&*store, &webhook, epoch).await;
    record(&*store, &webhook, vec![attempted(&first, RETRY, T0)]).await;
    assert_eq!(seen(store.backlog(T0).await.unwrap()), (3, 2));
    assert_eq!(seen(store.backlog(T0 + MINUTE).await.unwrap()), (3, 3));
    let second = one_claimed(&*store, &webhook, epoch).await;
    let delivered = attempted(&second, AfterAttempt::Delivered, T0);
    record(&*store, &webhook, vec![delivered]).await;
    assert_eq!(seen(store.backlog(T0).await.unwrap()), (2, 1));
}

/// A source with one invocation that may run at once and two that wait, queued in front of it.
async fn two_that_wait(store: &dyn Store, epoch: NodeEpoch) -> Leased {
    let source = deploy(store, epoch, &owner()).await;
    for (text, due_at_ms) in [("3", T0 + MINUTE), ("2", T0 + SECOND), ("1", EpochMs(0))] {
        let invocation = NewInvocation {
            due_at_ms,
            ..manual(&source.id, text)
        };
        let lease = store.enqueue(invocation, held(&source, epoch)).await;
        let lease = lease.unwrap();
        assert_eq!(
            lease.is_some(),
            due_at_ms == EpochMs(0),
            "nobody runs it yet"
        );
        if let Some(lease) = lease {
            store.release(&lease, None).await.unwrap();
        }
    }
    source
}

/// Those that wait for their time are not in the way of others; when it has come, the first to be due is the first.
pub async fn an_invocation_is_claimed_when_it_is_due(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = two_that_wait(&*store, epoch).await;
    let work = claim_all(&*store, &source.id, epoch, T0).await;
    assert_eq!(given(&work), ["1"]);
    let offered = async |now_ms| {
        let found = store.runnables_with_work(epoch, now_ms, None, 9).await;
        found.unwrap().len()
    };
    commit(&*store, end_of(&work[0])).await.unwrap();
    assert_eq!(offered(T0 + (SECOND - MS)).await, 0);
    assert_eq!(
        store.backlog(T0).await.unwrap().oldest_invocation_at_ms,
        None
    );
    assert_eq!(offered(T0 + SECOND).await, 1);
    let work = claim_all(&*store, &source.id, epoch, T0 + MINUTE).await;
    assert_eq!(given(&work), ["2", "3"]);
    // Given back until later.
    let later_ms = T0 + 2 * MINUTE;
    store.release(&work[0].lease, Some(later_ms)).await.unwrap();
    store.release(&work[1].lease, None).await.unwrap();
    let work = claim_all(&*store, &source.id, epoch, later_ms.minus(MS)).await;
    assert_eq!(given(&work), ["3"]);
    let work = claim_all(&*store, &source.id, epoch, later_ms).await;
    assert_eq!((given(&work), work[0].starts), (vec!["2"], 1));
}

/// The next due time is known.
pub async fn the_next_invocation_to_become_due_is_known(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    assert_eq!(store.next_due(EpochMs(0)).await.unwrap(), None);
    let source = two_that_wait(&*store, epoch).await;
    for (after_ms, due_ms) in [
        (T0, Some(T0 + SECOND)),
        (T0 + SECOND, Some(T0 + MINUTE)),
        (T0 + MINUTE, None),
    ] {
        assert_eq!(store.next_due(after_ms).await.unwrap(), due_ms);
    }
    let work = claim_all(&*store, &source.id, epoch, T0).await;
    let due_at_ms = T0 + 9 * MINUTE;
    let step = RunCommit {
        invocation: Some(InvocationEnd {
            lease: work[0].lease.clone(),
            then: AfterRun::Checkpoint {
                state: json("1"),
                due_at_ms,
            },
        }),
        ..end_of(&work[0])
    };
    commit(&*store, step).await.unwrap();
    let next = store.next_due(T0 + MINUTE).await.unwrap();
    assert_eq!(next, Some(due_at_ms));
}
