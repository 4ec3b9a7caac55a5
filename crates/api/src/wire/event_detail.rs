//! One event, and the runs that it caused; not part of Pipedream's API.

use headwater_model::{
    id::{EmitterId, RunnableId},
    time::EpochMs,
};
use headwater_platform::LoggedEvent;
use serde::Serialize;
use utoipa::ToSchema;

use super::{event::EventSummary, id, workflow_run::RunSummary};

/// An event of the log, whole.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventDetail {
    #[serde(flatten)]
    event: EventSummary,
    /// Bytes of the emitted data as JSON.
    size_bytes: usize,
    /// The time at which it is released to its channel, in epoch milliseconds; only on `$in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    deliver_at_ms: Option<EpochMs>,
    /// The `X-Request-Id` of the request that caused its run, as long as the run's record is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The trace that it belongs to, as in `traceparent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
}

impl EventDetail {
    pub(crate) fn new(found: LoggedEvent, emitter: EmitterId) -> Self {
        let size_bytes = found.event.event.get().len();
        let event = match emitter {
            EmitterId::Source(_) => EventSummary::new(found.event, emitter, true),
            EmitterId::Workflow(id) => EventSummary::of_workflow(found.event, &id, true),
        };
        let trace = found.origin.trace;
        Self {
            event,
            size_bytes,
            deliver_at_ms: found.deliver_at_ms,
            request_id: found.origin.request_id().map(str::to_owned),
            trace_id: trace.map(|trace| format!("{:032x}", trace.trace_id)),
        }
    }
}

/// A run of a listening source or workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListenerRun {
    /// The source or workflow that listens.
    #[schema(value_type = id::Emitter)]
    listener_id: RunnableId,
    #[serde(flatten)]
    run: RunSummary,
}

impl From<headwater_platform::ListenerRun> for ListenerRun {
    fn from(found: headwater_platform::ListenerRun) -> Self {
        Self {
            listener_id: found.listener,
            run: found.run.into(),
        }
    }
}
