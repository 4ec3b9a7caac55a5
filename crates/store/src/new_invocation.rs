//! Invocations to queue, of sources and of workflows.

use std::sync::Arc;

use headwater_model::{
    id::{InvocationId, RunnableId},
    origin::Origin,
    time::EpochMs,
};
use serde_json::value::RawValue;

use crate::trigger::Trigger;

/// An invocation to queue.
#[derive(Debug, Clone)]
pub struct NewInvocation {
    /// Its id.
    pub id: InvocationId,
    /// The source or workflow.
    pub runnable: RunnableId,
    /// The cause.
    pub trigger: Trigger,
    /// The workflow's trigger that it comes through.
    pub via: Option<String>,
    /// The event for `run`, as JSON text; its queue and its run share one copy.
    pub event: Arc<RawValue>,
    /// The number of sources and workflows that its cause has passed through.
    pub hops: u32,
    /// Epoch milliseconds.
    pub now_ms: EpochMs,
    /// When it may run, epoch milliseconds; 0: at once.
    pub due_at_ms: EpochMs,
    /// The request behind it.
    pub origin: Origin,
    /// The state that it begins with, as JSON text: that of a workflow's run which is to begin in a particular way.
    pub state: Option<Box<RawValue>>,
}
