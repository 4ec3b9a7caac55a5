//! A part of a run: its effects since the last commit, and its outcome if it is the last.

use std::sync::Arc;

use headwater_engine::Response;
use headwater_model::{id::InvocationId, origin::Origin, outcome::Outcome, time::EpochMs};
use headwater_store::{Lease, RunTrigger, Usage};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{
    effects::Effects,
    invocation::{CustomResponse, QueuedInvocation},
    run_report::RunReport,
};

/// The steps after the commit of a part.
pub(crate) enum After {
    Nothing,
    /// The run goes on; its response may now be seen.
    Respond(oneshot::Sender<CustomResponse>, Response),
    Report(oneshot::Sender<RunReport>),
}

/// The effects of a run since its last commit; the last part of a run has its outcome.
pub(crate) struct RunPart {
    pub(crate) invocation_id: InvocationId,
    pub(crate) trigger: RunTrigger,
    pub(crate) event: Arc<RawValue>,
    pub(crate) queued_at_ms: EpochMs,
    pub(crate) started_at_ms: EpochMs,
    pub(crate) ended_at_ms: EpochMs,
    pub(crate) hops: u32,
    pub(crate) origin: Origin,
    pub(crate) lease: Option<Lease>,
    pub(crate) effects: Effects,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) usage: Usage,
    pub(crate) after: After,
}

impl RunPart {
    /// The beginning of a part of work: nothing done, not ended.
    pub(super) fn of(invocation: &QueuedInvocation, after: After) -> Self {
        Self {
            invocation_id: invocation.invocation_id.clone(),
            trigger: invocation.trigger.into(),
            event: invocation.event.clone(),
            queued_at_ms: invocation.queued_at_ms,
            started_at_ms: invocation.queued_at_ms,
            ended_at_ms: invocation.queued_at_ms,
            hops: invocation.hops,
            origin: invocation.origin.clone(),
            lease: invocation.lease.clone(),
            effects: Effects::default(),
            outcome: None,
            usage: Usage::default(),
            after,
        }
    }

    /// The last part of work.
    pub(super) fn last(invocation: QueuedInvocation, after: After) -> Self {
        Self {
            invocation_id: invocation.invocation_id,
            trigger: invocation.trigger.into(),
            event: invocation.event,
            queued_at_ms: invocation.queued_at_ms,
            started_at_ms: invocation.queued_at_ms,
            ended_at_ms: invocation.queued_at_ms,
            hops: invocation.hops,
            origin: invocation.origin,
            lease: invocation.lease,
            effects: Effects::default(),
            outcome: None,
            usage: Usage::default(),
            after,
        }
    }

    /// The beginning of a part of a hook.
    pub(super) fn of_hook(
        trigger: RunTrigger,
        invocation_id: InvocationId,
        origin: Origin,
        started_at_ms: EpochMs,
    ) -> Self {
        Self {
            invocation_id,
            trigger,
            event: RawValue::NULL.to_owned().into(),
            queued_at_ms: started_at_ms,
            started_at_ms,
            ended_at_ms: started_at_ms,
            hops: 0,
            origin,
            lease: None,
            effects: Effects::default(),
            outcome: None,
            usage: Usage::default(),
            after: After::Nothing,
        }
    }
}
