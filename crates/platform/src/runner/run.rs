//! A run in flight: an invocation's or a hook's, with its effects so far.

use futures::stream::AbortHandle;
use headwater_engine::Hook;
use headwater_model::{id::InvocationId, origin::Origin, time::EpochMs};
use headwater_store::{RunTrigger, SentResponse};
use tokio::sync::oneshot;

use super::{effects::Effects, hook::HookEnded, invocation::QueuedInvocation};
use crate::{data_stores::StoreRequests, spans::Span};

/// The cause of a run.
pub(crate) enum Cause {
    /// An invocation, by its trigger.
    Invocation(QueuedInvocation),
    /// A hook.
    Hook {
        hook: Hook,
        invocation_id: InvocationId,
        origin: Origin,
        hold: bool,
        ended: oneshot::Sender<HookEnded>,
    },
}

impl Cause {
    /// The id of its run.
    pub(super) fn invocation_id(&self) -> &InvocationId {
        match self {
            Self::Invocation(invocation) => &invocation.invocation_id,
            Self::Hook { invocation_id, .. } => invocation_id,
        }
    }

    /// The trigger, as records of runs name it.
    pub(super) fn trigger(&self) -> RunTrigger {
        match self {
            Self::Invocation(invocation) => invocation.trigger.into(),
            Self::Hook { hook, .. } => hook_trigger(*hook),
        }
    }
}

/// A run in flight.
pub(crate) struct RunInFlight {
    pub(crate) cause: Cause,
    pub(crate) span: Span,
    pub(crate) effects: Effects,
    pub(crate) store_requests: StoreRequests,
    pub(crate) started: std::time::Instant,
    pub(crate) started_at_ms: EpochMs,
    /// Ends its start, if no worker was there at once.
    pub(crate) starting: Option<AbortHandle>,
    /// The answer that it sent.
    pub(crate) response: Option<SentResponse>,
    /// Whether something of it has been committed already, so that it cannot be started anew.
    pub(crate) flushed: bool,
    /// Whether it wrote to a data store, which is durable at once.
    pub(crate) stored: bool,
}

/// The trigger of a hook's run.
pub(super) fn hook_trigger(hook: Hook) -> RunTrigger {
    match hook {
        Hook::Deploy => RunTrigger::Deploy,
        Hook::Activate => RunTrigger::Activate,
        Hook::Deactivate => RunTrigger::Deactivate,
    }
}
