//! A part of a run: its effects since the last commit, and its outcome if it is the last.

use std::sync::Arc;

use headwater_engine::Response;
use headwater_model::{id::InvocationId, origin::Origin, outcome::Outcome, time::EpochMs};
use headwater_store::{Lease, RunTrigger, SentResponse, Usage};
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
    /// The run was cancelled, which somebody asked for and, if it was run by hand, somebody else hears of.
    Cancelled(oneshot::Sender<()>, Option<oneshot::Sender<RunReport>>),
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
    pub(crate) starts: u32,
    /// The answer that it sent, in this part or before.
    pub(crate) response: Option<SentResponse>,
    /// The time that it might take, if it has ended.
    pub(crate) time_limit_ms: Option<u64>,
    /// Other runs that returned, of which no record is written.
    pub(crate) unrecorded: u64,
    /// Whether it is all of the run: no part of it was committed before.
    pub(crate) is_whole: bool,
    /// Whether watchers of the node know that the run has ended.
    pub(crate) is_concluded: bool,
    pub(crate) after: After,
}

impl RunPart {
    /// Whether nothing of it needs a commit but the run's record.
    pub(super) fn is_quiet(&self) -> bool {
        let returned = matches!(self.outcome, Some(Outcome::Returned { .. }));
        let is_awaited = self.lease.is_some() || !matches!(self.after, After::Nothing);
        let is_hook = self.trigger.of_invocation().is_none();
        let has_effects = !self.effects.is_silent() || !self.effects.logs.is_empty();
        returned && self.is_whole && !is_awaited && !is_hook && !has_effects
    }

    /// The beginning of a part of work: nothing done, not ended.
    pub(super) fn of(invocation: &QueuedInvocation, after: After) -> Self {
        let (id, origin) = (invocation.invocation_id.clone(), invocation.origin.clone());
        Self {
            event: Arc::clone(&invocation.event),
            hops: invocation.hops,
            lease: invocation.lease.clone(),
            starts: invocation.starts(),
            after,
            ..Self::begun(
                invocation.trigger.into(),
                id,
                origin,
                invocation.queued_at_ms,
            )
        }
    }

    /// The beginning of a part of a hook, which nothing has queued.
    pub(super) fn begun(
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
            starts: 1,
            response: None,
            time_limit_ms: None,
            unrecorded: 0,
            is_whole: true,
            is_concluded: false,
            after: After::Nothing,
        }
    }
}
