//! The commit of a run: all of its effects.

use headwater_model::{
    dedupe,
    event::NewEvent,
    id::{InvocationId, RunnableId},
    time::EpochMs,
};
use serde_json::value::RawValue;

use crate::{
    lease::{Lease, RunnableLease},
    runs::EndedRun,
    tenants::Usage,
    workflow_runs::RunProgress,
};

/// One key of `$.service.db`.
#[derive(Debug, Clone)]
pub struct KvWrite {
    /// The key.
    pub key: String,
    /// JSON text; `None` deletes.
    pub value: Option<Box<RawValue>>,
}

/// The end of an invocation, or of a part of it.
#[derive(Debug, Clone)]
pub struct InvocationEnd {
    /// The right to run it, which ends with the commit.
    pub lease: Lease,
    /// The consequence.
    pub then: AfterRun,
}

impl InvocationEnd {
    /// The end of the invocation.
    pub fn ended(lease: Lease) -> Self {
        Self {
            lease,
            then: AfterRun::Ended,
        }
    }
}

/// The consequence of a commit for the invocation.
#[derive(Debug, Clone)]
pub enum AfterRun {
    /// It has ended.
    Ended,
    /// It goes on under the same lease, from this state after a crash.
    GoesOn {
        /// JSON text.
        state: Box<RawValue>,
    },
    /// It waits until it is due and continues with this state. Its id, event and origin stay; starts are counted anew.
    Checkpoint {
        /// JSON text.
        state: Box<RawValue>,
        /// Epoch milliseconds; 0: at once.
        due_at_ms: EpochMs,
    },
}

/// All effects of a run, committed together or not at all.
#[derive(Debug, Clone)]
pub struct RunCommit {
    /// The right to run it and to write its effects. Every run has it, hooks and custom responses too.
    pub lease: RunnableLease,
    /// The run's id; an invocation that was queued runs under its own.
    pub run_id: InvocationId,
    /// The end of the invocation, or of a part of it; `None` for a run that was never queued.
    pub invocation: Option<InvocationEnd>,
    /// Appended in this order, errors and logs included.
    pub events: Vec<NewEvent>,
    /// The new dedupe state, if it changed.
    pub dedupe: Option<dedupe::State>,
    /// Applied in this order.
    pub kv_writes: Vec<KvWrite>,
    /// Added to the day's usage of the source's user, and of its workspace.
    pub usage: Usage,
    /// The effects on a run of a workflow.
    pub progress: Option<RunProgress>,
    /// The end of the run, with its last commit. A later one of the same run does not change the record, and none is written
    /// before the invocation of a source's run has ended.
    pub ended: Option<EndedRun>,
    /// Other runs that returned, of which no record is written; they count with this one.
    pub unrecorded: u64,
    /// Epoch milliseconds.
    pub now_ms: EpochMs,
}

impl RunCommit {
    /// The source or workflow that ran.
    pub fn runnable(&self) -> &RunnableId {
        &self.lease.runnable
    }
}
