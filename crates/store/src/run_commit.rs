//! The commit of a run: everything it leaves behind.

use headwater_model::{dedupe, event::NewEvent, id::RunnableId};
use serde_json::value::RawValue;

use crate::{
    lease::{Lease, RunnableLease},
    tenants::Usage,
};

/// One key of `$.service.db`.
#[derive(Debug, Clone)]
pub struct KvWrite {
    /// The key.
    pub key: String,
    /// JSON text; `None` deletes.
    pub value: Option<Box<RawValue>>,
}

/// Everything a run leaves behind, committed together or not at all.
#[derive(Debug, Clone)]
pub struct RunCommit {
    /// The right to run it and to write what came of it: every run has it, hooks and custom responses too.
    pub lease: RunnableLease,
    /// The invocation that it ends; `None` for a run that was never queued.
    pub invocation: Option<Lease>,
    /// Appended in this order, errors and logs included.
    pub events: Vec<NewEvent>,
    /// The new dedupe state, if it changed.
    pub dedupe: Option<dedupe::State>,
    /// Applied in this order.
    pub kv_writes: Vec<KvWrite>,
    /// Added to the day's usage of the source's user, and of its workspace.
    pub usage: Usage,
    /// Epoch milliseconds.
    pub now_ms: u64,
}

impl RunCommit {
    /// Whose run it is.
    pub fn runnable(&self) -> &RunnableId {
        &self.lease.runnable
    }
}
