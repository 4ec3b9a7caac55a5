//! Runs of workflows that have not ended: their places, blobs and waits, and the commit of a step.
//!
//! A run is an invocation that stays until its end. Its state and its places are written with each step, in the step's
//! own commit ([`crate::RunCommit::progress`]); after a crash whoever claims the invocation goes on from them.

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::{
    event::EventRef,
    id::{InvocationId, RunnableId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use serde_json::value::RawValue;

use crate::{
    error::StoreError, new_invocation::NewInvocation, sends::NewSend, trigger::Trigger,
    workflows::Workflow,
};

/// A place to write.
#[derive(Debug, Clone)]
pub struct PlaceWrite {
    /// Its path, unique in its run.
    pub path: String,
    /// The whole place as JSON text. The store reads two members of it, `status` and `generation`, to tell whether a
    /// wait of it can still be resolved.
    pub body: Box<RawValue>,
}

/// A large value of a run.
#[derive(Debug, Clone)]
pub struct RunBlob {
    /// SHA-256, hexadecimal: the blob's name in its run.
    pub hash: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A wait of a place; a later wait of the same place has another generation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WaitId {
    /// The run.
    pub run_id: InvocationId,
    /// The place's path.
    pub path: String,
    /// Counts the place's waits.
    pub generation: u32,
}

/// The answer to a wait.
#[derive(Debug, Clone)]
pub struct WaitResolution {
    /// The wait.
    pub wait: WaitId,
    /// The answer, as JSON text that only the platform reads.
    pub resolution: Box<RawValue>,
}

/// The effect of an answer to a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitResolved {
    /// It counts. The run of this runnable is due at once.
    Now(RunnableId),
    /// The wait was answered before, or is over.
    Before,
    /// The run has ended.
    Ended,
    /// There is no such run.
    Unknown,
}

/// The effects of a commit on a run of a workflow.
#[derive(Debug, Clone, Default)]
pub struct RunProgress {
    /// Places that are new or have changed.
    pub places: Vec<PlaceWrite>,
    /// Values that places name.
    pub blobs: Vec<RunBlob>,
    /// Sends of the step, to be made once this commit is durable.
    pub sends: Vec<NewSend>,
    /// Runs of other workflows that begin with this commit. Those whose runnable is gone are passed over.
    pub calls: Vec<NewInvocation>,
    /// Answers for waits of other runs: those that called this one.
    pub resolves: Vec<WaitResolution>,
    /// Answers that the places contain from now on.
    pub applied: Vec<WaitId>,
    /// Whether nothing of the run is kept but its record and these details: the run has ended. Sends that have not
    /// ended are still made (`conformance::admission::a_forgotten_run_leaves_its_record`).
    pub is_forgotten: bool,
    /// The run's details, kept with its record, when it has ended: JSON text that only the platform reads.
    pub details: Option<Box<RawValue>>,
}

/// The value of a trigger's idempotency key, in a run that wants to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunKey {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Its trigger.
    pub trigger: String,
    /// The value's SHA-256, hexadecimal.
    pub hash: String,
    /// The run.
    pub run_id: InvocationId,
    /// Until then no other run has the same value, epoch milliseconds.
    pub expires_at_ms: EpochMs,
}

/// A run of a workflow that has not ended.
#[derive(Debug, Clone)]
pub struct OpenRun {
    /// Its id.
    pub id: InvocationId,
    /// The workflow.
    pub runnable: RunnableId,
    /// Its cause.
    pub trigger: Trigger,
    /// The trigger of the workflow or the emitter that it came through.
    pub via: Option<String>,
    /// The event that it runs for, which its emitter's log may have trimmed by now.
    pub caused_by: Option<EventRef>,
    /// When it was queued, epoch milliseconds.
    pub queued_at_ms: EpochMs,
    /// When it goes on, epoch milliseconds; 0: at once.
    pub due_at_ms: EpochMs,
    /// Whether a node has it.
    pub is_leased: bool,
    /// Its state, if it has begun.
    pub state: Option<Box<RawValue>>,
}

/// Runs of workflows, for those who look at them and for the URLs of their waits.
#[async_trait]
pub trait WorkflowRuns {
    /// The places of a run, in no particular order, as long as the run or its record is there.
    /// MUST go with the run's record (`conformance::workflow_runs::places_go_with_their_run`).
    async fn run_places(&self, id: &InvocationId) -> Result<Vec<PlaceWrite>, StoreError>;

    /// A blob of a run.
    async fn run_blob(&self, id: &InvocationId, hash: &str) -> Result<Option<Bytes>, StoreError>;

    /// The details of a run that has ended.
    async fn run_details(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError>;

    /// The event of a run that has not ended; that of one which has is in its details.
    async fn run_event(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError>;

    /// A run that has not ended.
    async fn open_run(&self, id: &InvocationId) -> Result<Option<OpenRun>, StoreError>;

    /// A page of a runnable's runs that have not ended, newest first.
    async fn open_runs(
        &self,
        runnable: &RunnableId,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<OpenRun>, StoreError>;

    /// Answers a wait. An answer for a step that still runs is kept until the step ends.
    /// MUST take one answer for each wait (`conformance::workflow_runs::a_wait_is_answered_once`).
    /// MUST make the run due, also if its checkpoint is committed only after the answer
    /// (`conformance::workflow_runs::an_answer_before_the_checkpoint_is_not_lost`).
    /// MUST answer `Ended` while the workflow is being deleted
    /// (`conformance::workflow_runs::a_workflow_that_is_being_deleted_runs_nothing_more`).
    async fn resolve_wait(
        &self,
        resolution: WaitResolution,
        now_ms: EpochMs,
    ) -> Result<WaitResolved, StoreError>;

    /// Takes the value of an idempotency key for a run. False: another run has it.
    /// MUST give a value to one run until it expires, and to that run again
    /// (`conformance::admission::a_key_is_of_one_run_until_it_expires`).
    async fn take_run_key(&self, key: RunKey, now_ms: EpochMs) -> Result<bool, StoreError>;

    /// The oldest runs of a workflow that wait to begin, without the newest `size` of them; at most `limit`.
    /// MUST leave out runs that have begun (`conformance::admission::a_full_queue_refuses_runs`).
    async fn waiting_beyond(
        &self,
        id: &WorkflowId,
        size: u32,
        limit: u32,
    ) -> Result<Vec<InvocationId>, StoreError>;

    /// The answers of these runs that no commit has applied yet, in the order in which they came
    /// (`conformance::workflow_runs::answers_of_several_runs_are_read_in_their_order`).
    async fn resolutions(&self, runs: &[InvocationId]) -> Result<Vec<WaitResolution>, StoreError>;

    /// The workflow, in any state, and the answers of these runs of it at the same moment, as [`Self::resolutions`] reads
    /// them: runs that were claimed together go on from them
    /// (`conformance::workflow_runs::answers_of_several_runs_are_read_in_their_order`).
    async fn workflow_of_runs(
        &self,
        id: &WorkflowId,
        runs: &[InvocationId],
    ) -> Result<Option<(Workflow, Vec<WaitResolution>)>, StoreError>;
}
