//! The commit of a run: everything it leaves behind.

use headwater_model::{dedupe, event::NewEvent, id::RunnableId};
use serde_json::value::RawValue;

use crate::{lease::Lease, tenants::Usage};

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
    /// Whose run.
    pub runnable: RunnableId,
    /// The invocation that it ends; `None` for a run that was never queued (hooks, custom responses).
    pub lease: Option<Lease>,
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
