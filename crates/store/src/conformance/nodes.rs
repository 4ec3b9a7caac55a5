//! Nodes: several on one store, of which one at a time holds a runnable.

use std::{collections::BTreeSet, sync::Arc};

use headwater_model::{
    id::{EventId, WorkflowId},
    time::EpochMs,
};

use super::{Factory, fixture::*};
use crate::{
    Conflict, Entity, Lease, LogPosition, NODE_TIMEOUT, NewSource, NodeEpoch, NodeName,
    RunnableLease, SourceState, Store, StoreError, WorkLimit,
};

/// Two nodes, each with a handle of its own.
struct Two {
    one: Arc<dyn Store>,
    other: Arc<dyn Store>,
    first: NodeEpoch,
    second: NodeEpoch,
}

fn another() -> NodeName {
    NodeName::new("another")
}

async fn two(factory: &dyn Factory) -> Two {
    let (one, first) = start(factory).await;
    let other = factory.also_open(&one).await;
    let second = other.start_node(&another(), T0).await.unwrap();
    Two {
        one,
        other,
        first,
        second,
    }
}

async fn take(
    store: &dyn Store,
    source: &Leased,
    epoch: NodeEpoch,
    now_ms: EpochMs,
) -> Result<RunnableLease, StoreError> {
    let id = runnable(source);
    store.lease_runnable(&id, epoch, now_ms).await
}

fn assert_lost<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(
        matches!(result, Err(StoreError::Conflict(Conflict::LeaseLost))),
        "expected a lost lease, got {result:?}"
    );
}

fn assert_held<T: std::fmt::Debug>(result: Result<T, StoreError>, holder: NodeEpoch) {
    assert!(
        matches!(result, Err(StoreError::Conflict(Conflict::Held { by })) if by == holder),
        "expected one that is held by {holder:?}, got {result:?}"
    );
}

/// Everything that only the holder of a source may do, tried under a lease that is not the current one.
async fn assert_fenced_off(store: &dyn Store, source: &Leased, lease: Option<Lease>) {
    let before = store.source(&source.id).await.unwrap().unwrap();
    assert_lost(commit(store, run_of(source, vec![event("\"late\"")], T0)).await);
    let run = crate::RunCommit {
        invocation: ended(lease),
        ..run_of(source, vec![event("\"late\"")], T0)
    };
    assert_lost(commit(store, run).await);
    let limit = WorkLimit::of(9);
    let epoch = source.lease.epoch;
    assert_lost(store.claim(&source.lease, term(epoch), T0, limit).await);
    assert_lost(store.settle_source(settled(source, false, T0)).await);
    let updating = SourceState::Updating;
    assert_lost(store.set_source_state(&source.lease, updating).await);
    assert_lost(store.empty_source(&source.lease, 9).await);
    assert_lost(store.delete_source(&source.lease).await);
    let after = store.source(&source.id).await.unwrap().unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
    assert!(texts(store, source).await.is_empty());
}

/// A runnable is leased to the node that deploys or takes it, and to no other as long as that node lives.
pub async fn two_nodes_never_hold_one_runnable(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let id = runnable(&source);
    let now_ms = T0 + (NODE_TIMEOUT - MS);
    let taken = nodes.other.lease_runnable(&id, nodes.second, now_ms).await;
    assert_held(taken, nodes.first);
    for _ in 0..2 {
        let again = nodes.one.lease_runnable(&id, nodes.first, now_ms).await;
        assert_eq!(again.unwrap(), source.lease, "the same lease again");
    }
    // Of two who ask at once for one that is free, one gets it.
    nodes.one.release_runnable(&source.lease).await.unwrap();
    let (mine, theirs) = tokio::join!(
        nodes.one.lease_runnable(&id, nodes.first, now_ms),
        nodes.other.lease_runnable(&id, nodes.second, now_ms)
    );
    assert!(mine.is_ok() != theirs.is_ok(), "{mine:?} and {theirs:?}");
    let nothing = WorkflowId::new(T0, entropy()).into();
    let gone = nodes.one.lease_runnable(&nothing, nodes.first, T0).await;
    assert!(matches!(
        gone,
        Err(StoreError::Conflict(Conflict::Gone(Entity::Runnable(id)))) if id == nothing
    ));
}

/// A node that takes over from a dead one gets its work at once; late commits of the dead node are refused.
pub async fn a_dead_nodes_runnable_is_taken_over(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let queued = manual(&source.id, "1");
    let lease = nodes.one.enqueue(queued, held(&source, nodes.first)).await;
    let now_ms = T0 + NODE_TIMEOUT;
    let other = &*nodes.other;
    other.heartbeat(nodes.second, now_ms).await.unwrap();
    let offered = other.runnables_with_work(nodes.second, now_ms.minus(MS), None, 9);
    assert!(offered.await.unwrap().is_empty());
    let offered = other.runnables_with_work(nodes.second, now_ms, None, 9);
    assert_eq!(offered.await.unwrap(), [runnable(&source)]);
    let taken = take(other, &source, nodes.second, now_ms).await.unwrap();
    assert_eq!(taken.fence, source.lease.fence + 1);
    assert_fenced_off(&*nodes.one, &source, lease.unwrap()).await;
    assert_lost(nodes.one.heartbeat(nodes.first, now_ms).await);
    let limit = WorkLimit::of(9);
    let claimed = other.claim(&taken, term(nodes.second), T0, limit).await;
    let claimed = claimed.unwrap();
    assert_eq!((given(&claimed), claimed[0].starts), (vec!["1"], 2));
    let source = Leased {
        source: source.source,
        lease: taken,
    };
    let end = end_of_lease(&source, &claimed[0].lease);
    commit(other, end).await.unwrap();
}

/// A living node keeps everything that it deploys, runs and holds when another one starts.
pub async fn leases_of_a_living_node_survive_another_nodes_start(factory: &dyn Factory) {
    let (one, first) = start(factory).await;
    let mine = owner();
    let source = deploy(&*one, first, &mine).await;
    let deploying = begin(&*one, first, &mine, "deploying").await;
    let queued = manual(&source.id, "1");
    let lease = one.enqueue(queued, held(&source, first)).await.unwrap();
    let other = factory.also_open(&one).await;
    let second = other.start_node(&another(), T0 + MS).await.unwrap();
    let unsettled = other
        .unsettled_sources(second, T0 + MS, None, 9)
        .await
        .unwrap();
    assert!(unsettled.is_empty());
    let own = one
        .unsettled_sources(first, T0 + MS, None, 9)
        .await
        .unwrap();
    assert_eq!(own.len(), 1, "the holder knows that it is not done");
    assert!(
        claim_all(&*one, &source.id, first, T0 + MS)
            .await
            .is_empty()
    );
    let end = end_of_lease(&source, &lease.unwrap());
    commit(&*one, end).await.unwrap();
    settle(&*one, deploying).await;
    let deploying = begin(&*one, first, &mine, "deploying").await;
    let dead_ms = T0 + NODE_TIMEOUT;
    other.heartbeat(second, dead_ms).await.unwrap();
    let unsettled = other
        .unsettled_sources(second, dead_ms, None, 9)
        .await
        .unwrap();
    let ids: Vec<_> = unsettled.into_iter().map(|source| source.id).collect();
    assert_eq!(ids, std::slice::from_ref(&deploying.id));
}

/// A node is alive as long as its heartbeats come in time.
pub async fn a_heartbeat_keeps_a_node_alive(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let id = runnable(&source);
    for beat in 1..4 {
        let now_ms = T0 + beat * (NODE_TIMEOUT - MS);
        for epoch in [nodes.first, nodes.second] {
            nodes.one.heartbeat(epoch, now_ms).await.unwrap();
        }
        let later_ms = now_ms + (NODE_TIMEOUT - MS);
        let taken = nodes
            .other
            .lease_runnable(&id, nodes.second, later_ms)
            .await;
        assert_held(taken, nodes.first);
    }
    let now_ms = T0 + 9 * NODE_TIMEOUT;
    // A node that nobody has missed goes on.
    nodes.one.heartbeat(nodes.first, now_ms).await.unwrap();
    let taken = nodes.other.lease_runnable(&id, nodes.second, now_ms).await;
    assert_held(taken, nodes.first);
}

/// A second start under one name is the end of the first life, whatever that was doing.
pub async fn a_node_that_started_anew_lost_everything_of_its_former_epoch(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let queued = manual(&source.id, "1");
    let lease = nodes.one.enqueue(queued, held(&source, nodes.first)).await;
    let next = nodes.one.start_node(&node(), T0).await.unwrap();
    assert!(next > nodes.first && next > nodes.second);
    assert_fenced_off(&*nodes.one, &source, lease.unwrap()).await;
    assert_lost(nodes.one.heartbeat(nodes.first, T0).await);
    let id = runnable(&source);
    assert_lost(nodes.one.lease_runnable(&id, nodes.first, T0).await);
    let new = NewSource {
        id: headwater_model::id::SourceId::new(T0, entropy()),
        owner: source.owner.clone(),
        slug: "late".to_owned(),
        spec: source.spec.clone(),
        now_at: T0.to_seconds(),
    };
    assert_lost(nodes.one.begin_deploy(new, nodes.first).await);
    nodes.other.heartbeat(nodes.second, T0).await.unwrap();
    let work = claim_all(&*nodes.other, &source.id, nodes.second, T0).await;
    assert_eq!(given(&work), ["1"]);
}

/// A run is not thrown away because its node was late, as long as nobody repeats it.
pub async fn a_late_holder_that_nobody_has_replaced_still_commits(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let mine = owner();
    let kept = deploy(&*nodes.one, nodes.first, &mine).await;
    let taken = deploy(&*nodes.one, nodes.first, &mine).await;
    let now_ms = T0 + NODE_TIMEOUT;
    nodes.other.heartbeat(nodes.second, now_ms).await.unwrap();
    take(&*nodes.other, &taken, nodes.second, now_ms)
        .await
        .unwrap();
    let late = |source| run_of(source, vec![event("1")], now_ms);
    commit(&*nodes.one, late(&kept)).await.unwrap();
    assert_lost(commit(&*nodes.one, late(&taken)).await);
    assert_eq!(texts(&*nodes.one, &kept).await, ["1"]);
    // It takes nothing new.
    nodes.other.release_runnable(&kept.lease).await.unwrap();
    assert_lost(take(&*nodes.one, &kept, nodes.first, now_ms).await);
}

/// Work is offered to the node that holds its runnable; to every node if none does.
pub async fn work_that_another_living_node_holds_is_not_offered(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let mine = owner();
    let first = deploy(&*nodes.one, nodes.first, &mine).await;
    let second = deploy(&*nodes.other, nodes.second, &mine).await;
    let free = deploy(&*nodes.one, nodes.first, &mine).await;
    nodes.one.release_runnable(&free.lease).await.unwrap();
    for source in [&first, &second, &free] {
        let queued = manual(&source.id, "1");
        nodes.one.enqueue(queued, None).await.unwrap();
    }
    for (epoch, own) in [(nodes.first, &first), (nodes.second, &second)] {
        let offered = nodes.one.runnables_with_work(epoch, T0, None, 9).await;
        assert_eq!(offered.unwrap(), [runnable(own), runnable(&free)]);
    }
}

/// A node that stops leaves nothing that anybody has to wait for.
pub async fn a_clean_stop_frees_everything_at_once(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let queued = manual(&source.id, "1");
    let lease = nodes.one.enqueue(queued, held(&source, nodes.first)).await;
    let webhook = listening_webhook(&*nodes.one, &source.owner, &source).await;
    let mine = leased_to(&*nodes.one, &source, nodes.first).await;
    for _ in 0..2 {
        nodes.one.stop_node(nodes.first).await.unwrap();
    }
    assert_fenced_off(&*nodes.one, &mine, lease.unwrap()).await;
    assert_lost(nodes.one.heartbeat(nodes.first, T0).await);
    let work = claim_all(&*nodes.other, &source.id, nodes.second, T0).await;
    assert_eq!((given(&work), work[0].starts), (vec!["1"], 1));
    // Deliveries, too.
    let source = leased_to(&*nodes.other, &source, nodes.second).await;
    emit(&*nodes.other, &source, &["2"], T0).await;
    dispatch_all(&*nodes.other, 9).await;
    let third = nodes.one.start_node(&node(), T0).await.unwrap();
    assert_eq!(
        claim_deliveries(&*nodes.one, &webhook, third, T0)
            .await
            .len(),
        1
    );
    assert!(
        claim_deliveries(&*nodes.other, &webhook, nodes.second, T0)
            .await
            .is_empty()
    );
    nodes.one.stop_node(third).await.unwrap();
    let claimed = claim_deliveries(&*nodes.other, &webhook, nodes.second, T0).await;
    assert_eq!(claimed.len(), 1);
}

/// A runnable that is given back is free with all that was leased of it, and its former holder is fenced off.
pub async fn a_runnable_that_was_given_back_is_free(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let queued = manual(&source.id, "1");
    let lease = nodes.one.enqueue(queued, held(&source, nodes.first)).await;
    nodes.one.release_runnable(&source.lease).await.unwrap();
    let work = claim_all(&*nodes.other, &source.id, nodes.second, T0).await;
    assert_eq!((given(&work), work[0].starts), (vec!["1"], 1));
    // Too late, and without effect on the one who has it now.
    nodes.one.release_runnable(&source.lease).await.unwrap();
    assert_fenced_off(&*nodes.one, &source, lease.unwrap()).await;
    commit(&*nodes.other, end_of(&work[0])).await.unwrap();
    // The same node gets another lease for it, under which its former runs count no more.
    nodes.other.release_runnable(&work[0].under).await.unwrap();
    let anew = leased_to(&*nodes.one, &source, nodes.first).await;
    assert!(anew.lease.fence > work[0].under.fence);
    assert_fenced_off(&*nodes.one, &source, None).await;
}

/// An accepted request is run, whichever node holds its runnable by then.
pub async fn an_invocation_is_queued_whatever_happens_to_the_lease(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let source = deploy(&*nodes.one, nodes.first, &owner()).await;
    let wrong = RunnableLease {
        fence: source.lease.fence + 1,
        ..source.lease.clone()
    };
    let of_other = deploy(&*nodes.one, nodes.first, &source.owner).await.lease;
    for (text, lease) in [("1", wrong), ("2", of_other)] {
        let under = Some((lease, term(nodes.first)));
        let queued = nodes.one.enqueue(manual(&source.id, text), under).await;
        assert_eq!(queued.unwrap(), None, "leased to nobody");
    }
    let another = Some((source.lease.clone(), term(nodes.second)));
    let queued = nodes.one.enqueue(manual(&source.id, "3"), another).await;
    assert_eq!(queued.unwrap(), None, "nor to another node");
    let work = claim_all(&*nodes.one, &source.id, nodes.first, T0).await;
    assert_eq!(given(&work), ["1", "2", "3"]);
}

/// Events of each of two writers, who write while somebody reads along.
const WRITTEN: usize = 60;

/// A reader of the tail sees each event once, and none before a position that it has read.
pub async fn events_of_concurrent_writers_are_each_read_once_in_order(factory: &dyn Factory) {
    let nodes = two(factory).await;
    let mine = owner();
    let first = deploy(&*nodes.one, nodes.first, &mine).await;
    let second = deploy(&*nodes.other, nodes.second, &mine).await;
    let write = async |store: &dyn Store, source: &Leased| {
        for number in 0..WRITTEN {
            emit(store, source, &[&number.to_string()], T0).await;
        }
    };
    let read = async {
        let mut read: Vec<(LogPosition, EventId)> = Vec::new();
        let (mut up_to, mut passed) = (LogPosition::default(), 0);
        while read.len() < 2 * WRITTEN || passed < 2 * WRITTEN as u64 {
            let tail = nodes.one.tail(up_to, 7).await.unwrap();
            assert!(tail.up_to >= up_to);
            up_to = tail.up_to;
            let events = tail.events.into_iter();
            read.extend(events.map(|one| (one.position, one.event.id)));
            passed += nodes.other.dispatch(T0, 5, u32::MAX).await.unwrap().done;
            tokio::task::yield_now().await;
        }
        (read, passed)
    };
    let (_, _, (read, passed)) = tokio::join!(
        write(&*nodes.one, &first),
        write(&*nodes.other, &second),
        read
    );
    assert!(read.is_sorted_by(|one, next| one.0 < next.0), "in order");
    let positions: BTreeSet<_> = read.iter().map(|(position, _)| position).collect();
    assert_eq!(positions.len(), 2 * WRITTEN, "each event once");
    assert_eq!(passed, 2 * WRITTEN as u64);
}
