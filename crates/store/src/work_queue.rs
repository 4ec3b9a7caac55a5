//! Durable work: invocations and timers. Everything claimed is leased; completing twice is harmless.

use std::sync::Arc;

use async_trait::async_trait;
use headwater_model::{
    id::{InvocationId, RunnableId},
    origin::Origin,
    time::EpochMs,
};
use serde_json::value::RawValue;

use crate::{
    error::StoreError,
    lease::{Lease, LeaseTerm, NodeEpoch, RunnableLease},
    new_invocation::NewInvocation,
    progress::Progress,
    run_commit::RunCommit,
    trigger::Trigger,
};

/// An invocation with the right to run it.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The right.
    pub lease: Lease,
    /// The source or workflow.
    pub runnable: RunnableId,
    /// The cause.
    pub trigger: Trigger,
    /// The timer, the workflow's trigger or the emitter that it came through, if one is known.
    pub via: Option<String>,
    /// The workflow's trigger whose subscription queued it.
    pub fed_by: Option<String>,
    /// The event for `run`.
    pub event: Arc<RawValue>,
    /// The number of sources and workflows that its cause has passed through.
    pub hops: u32,
    /// When it was queued, epoch milliseconds.
    pub queued_at_ms: EpochMs,
    /// The request behind it.
    pub origin: Origin,
    /// The state that its last checkpoint left, as JSON text.
    pub state: Option<Box<RawValue>>,
    /// How often it was leased without being given back since it was queued or its last checkpoint, this time included.
    /// A large number means that it may be the cause of its nodes' crashes.
    pub starts: u32,
}

impl Claimed {
    /// The same as a claim: an invocation that was leased when it was queued.
    pub fn at_once(invocation: NewInvocation, lease: Lease) -> Self {
        Self {
            lease,
            runnable: invocation.runnable,
            trigger: invocation.trigger,
            via: invocation.via,
            fed_by: None,
            event: invocation.event,
            hops: invocation.hops,
            queued_at_ms: invocation.now_ms,
            origin: invocation.origin,
            state: invocation.state,
            starts: 1,
        }
    }

    /// The workflow's trigger that it comes through, if any.
    pub fn trigger_id(&self) -> Option<&str> {
        match self.trigger == Trigger::Event {
            true => self.fed_by.as_deref(),
            false => self.via.as_deref(),
        }
    }

    /// Bytes of its event and its state.
    pub fn bytes(&self) -> usize {
        let state = self.state.as_ref().map_or(0, |state| state.get().len());
        self.event.get().len() + state
    }
}

/// The bounds of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLimit {
    /// Invocations.
    pub invocations: u32,
    /// Bytes of their events and states. The invocation that reaches the bound is still claimed, so that the largest
    /// event can be.
    pub bytes: u64,
    /// Whether only invocations are claimed that have a commit already: runs of workflows that go on.
    pub has_begun: bool,
}

impl WorkLimit {
    /// A bound on the number alone.
    pub const fn of(invocations: u32) -> Self {
        Self {
            invocations,
            bytes: i64::MAX.unsigned_abs(),
            has_begun: false,
        }
    }

    /// Whether a claim ended there, so that there may be more to claim.
    pub fn is_reached_by(self, claimed: &[Claimed]) -> bool {
        let bytes: usize = claimed.iter().map(Claimed::bytes).sum();
        claimed.len() >= self.invocations as usize || bytes as u64 >= self.bytes
    }
}

/// The work left in a store, for monitoring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Invocations queued, waiting for their time, or running; [`Backlog::COUNTED_MAX`] at most, however many there are.
    pub invocations: u64,
    /// When the first in line of those that are due was queued, epoch milliseconds.
    pub oldest_invocation_at_ms: Option<EpochMs>,
    /// Events that dispatch has not passed.
    pub undispatched_events: u64,
    /// Deliveries that have not ended; bounded like the invocations.
    pub pending_deliveries: u64,
    /// Deliveries among them that may be attempted now.
    pub due_deliveries: u64,
}

impl Backlog {
    /// The bound of counting, which keeps the query cheap when there is much work.
    pub const COUNTED_MAX: u32 = 100_000;
}

/// The queue of invocations, and the timers that feed it.
#[async_trait]
pub trait WorkQueue {
    /// Queues an invocation, leased at once if a term is given and the lease of its runnable is the current one.
    /// `Ok` means that it will run, even if this node fails. `Gone` when the runnable is gone or being deleted,
    /// `Inactive` when it takes no triggers, as an inactive workflow takes runs by hand alone
    /// (MUST: `conformance::workflows::a_run_by_hand_begins_while_its_workflow_is_inactive`), `Taken` when the invocation is queued already, `QueueFull` when as many runs
    /// of the workflow as may wait to begin do so.
    /// MUST count exactly those that have not begun (`conformance::admission::a_full_queue_refuses_runs`).
    /// MUST queue it without a lease when the lease of the runnable was lost
    /// (`conformance::nodes::an_invocation_is_queued_whatever_happens_to_the_lease`).
    async fn enqueue(
        &self,
        invocation: NewInvocation,
        lease: Option<(RunnableLease, LeaseTerm)>,
    ) -> Result<Option<Lease>, StoreError>;

    /// Leases invocations of one source or workflow that are due and not leased, by due time, then oldest first, within
    /// the limit.
    /// MUST NOT lease one that is not due (`conformance::queue::an_invocation_is_claimed_when_it_is_due`).
    /// MUST refuse with `LeaseLost` a caller that does not hold the runnable
    /// (`conformance::nodes::a_dead_nodes_runnable_is_taken_over`).
    /// MUST NOT lease one that is held by a lease that has not expired
    /// (`conformance::queue::a_claim_never_hands_out_a_held_lease`), nor more than one beyond the bound of
    /// bytes (`conformance::queue::a_claim_takes_no_more_bytes_than_there_is_room_for`).
    /// MUST lease none of a workflow that is being deleted
    /// (`conformance::workflow_runs::a_workflow_that_is_being_deleted_runs_nothing_more`).
    /// MUST leave out those that have not begun if the limit says so, however many there are before the others
    /// (`conformance::workflow_runs::a_claim_may_be_of_runs_that_go_on_alone`).
    async fn claim(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: WorkLimit,
    ) -> Result<Vec<Claimed>, StoreError>;

    /// Gives back what is leased of a source's or workflow's invocations under exactly this term: a claim whose answer was
    /// lost has leased it, and nobody knows.
    /// MUST leave leases of other terms, and those of other runnables
    /// (`conformance::queue::work_of_a_lost_claim_is_given_back`).
    async fn release_claim(&self, runnable: &RunnableId, term: LeaseTerm)
    -> Result<(), StoreError>;

    /// Leases one invocation of a source or workflow, due or not; `None` if it has ended or somebody holds it.
    /// MUST NOT lease one that is held by a lease that has not expired, nor one of another runnable
    /// (`conformance::queue::one_invocation_is_claimed_by_its_id`).
    /// MUST refuse with `LeaseLost` a caller that does not hold the runnable
    /// (`conformance::queue::one_invocation_is_claimed_by_its_id`).
    async fn claim_one(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        id: &InvocationId,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Sources and workflows with invocations that are due and not held by a living node, in the order of their ids,
    /// after `after`; at most `limit`. MUST reach every one of them when called with the last it found
    /// (`conformance::queue::all_runnables_with_work_are_reached_in_steps`).
    /// MUST NOT find those that another living node holds
    /// (`conformance::nodes::work_that_another_living_node_holds_is_not_offered`).
    async fn runnables_with_work(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&RunnableId>,
        limit: u32,
    ) -> Result<Vec<RunnableId>, StoreError>;

    /// The due time of the next invocation after `after_ms`; `None` when none is due later.
    /// MUST include those that were queued for later and checkpoints
    /// (`conformance::queue::the_next_invocation_to_become_due_is_known`).
    async fn next_due(&self, after_ms: EpochMs) -> Result<Option<EpochMs>, StoreError>;

    /// The size of the backlog. Always cheap: rows are counted up to a bound.
    /// MUST count queued and running invocations until they end
    /// (`conformance::queue::the_backlog_is_what_has_not_ended`,
    /// `conformance::queue::the_backlog_has_the_deliveries_that_have_not_ended`).
    async fn backlog(&self, now_ms: EpochMs) -> Result<Backlog, StoreError>;

    /// Prolongs leases. Lost ones are ignored.
    async fn extend_leases(
        &self,
        leases: &[Lease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError>;

    /// Gives a lease back: the invocation may be claimed again, at once or at a new due time. Harmless if it was lost.
    async fn release(&self, lease: &Lease, due_at_ms: Option<EpochMs>) -> Result<(), StoreError>;

    /// Commits the ends of runs in this order; each is all or nothing, and one result per commit comes back.
    /// Per commit: append events with ids that increase per emitter (even if the clock stepped back), replace the
    /// dedupe state, apply key-value writes, add usage, end the invocation or write its checkpoint, record the end of the
    /// run.
    /// MUST free the lease with a checkpoint, and keep the invocation's id, event and origin
    /// (`conformance::commits::a_checkpoint_goes_on_with_its_state_when_it_is_due`).
    /// After one that is `Unavailable`, all later ones are too, and none of them is written.
    /// The lease of an invocation is lost when it was given back, taken by a later attempt, or voided; not by expiring
    /// alone, and it is of one runnable. The lease of a runnable is lost when another node holds it, or its node ended.
    /// MUST refuse with `LeaseLost` a commit whose lease of the runnable was lost, hooks and silent runs too
    /// (`conformance::nodes::a_dead_nodes_runnable_is_taken_over`).
    /// MUST refuse with `LeaseLost` a commit whose lease of the invocation was lost; nothing of it is written
    /// (`conformance::commits::a_commit_is_refused_after_a_later_attempt_claimed_the_invocation`).
    /// MUST refuse with `Behind` a commit with a dedupe state after a refused one of its source that had one: its
    /// state counts events that were not appended, which would be dropped when they are emitted again
    /// (`conformance::commits::a_dedupe_state_behind_a_refused_one_is_refused`).
    /// MUST refuse with `Gone` a commit whose source is gone; nothing of it is written
    /// (`conformance::commits::a_commit_is_refused_after_the_source_was_deleted`).
    async fn commit_runs(&self, commits: Arc<[RunCommit]>) -> Vec<Result<(), StoreError>>;

    /// Fires up to `limit` due timers of active sources. Per timer, together: queue one invocation with the
    /// schedule's tick event and move to the tick after it. While an earlier tick of the timer waits, no further one
    /// is queued (ticks coalesce); while one runs, one more waits. `next_due_ms` is the time of the next call.
    /// Timers of an inactive source are not due; they catch up when it is active again.
    /// Several nodes may call it at once: a step is atomic, and a tick that one has fired is no longer due for another.
    /// MUST fire one catch-up tick after downtime, not one per missed tick
    /// (`conformance::timers::a_timer_catches_up_once_after_downtime`).
    async fn fire_timers(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError>;
}
