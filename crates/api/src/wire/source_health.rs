//! The health of sources and workflows, which listings show on request; not part of Pipedream's API.

use headwater_model::{channel::Channel, id::EventId, time::EpochMs};
use serde::Serialize;
use utoipa::ToSchema;

use super::{id, run_record::Run};

/// The state of a source, from its newest runs and events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceHealth {
    /// Its newest run that has ended, hooks included. Null if none is kept.
    #[schema(required)]
    last_run: Option<Run>,
    /// The start of the first of the runs that failed one after the other up to now, in epoch milliseconds. Null if the
    /// last run succeeded, or if there is none.
    #[schema(required, value_type = Option<u64>)]
    failing_since_ms: Option<EpochMs>,
    /// Its newest event on the default channel and those that components name. Null if none is kept.
    #[schema(required)]
    last_event: Option<LastEvent>,
    /// The time of the next tick of any of its timers, in epoch milliseconds. Null without timers, and while it is not
    /// active.
    #[schema(required, value_type = Option<u64>)]
    next_tick_at_ms: Option<EpochMs>,
    last_24_hours: RecentRuns,
}

/// The state of a workflow, from its newest runs and events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowHealth {
    /// Its newest run that has ended. Null if none is kept.
    #[schema(required)]
    last_run: Option<Run>,
    /// The start of the first of the runs that failed one after the other up to now, in epoch milliseconds. Null if the
    /// last run succeeded, or if there is none.
    #[schema(required, value_type = Option<u64>)]
    failing_since_ms: Option<EpochMs>,
    /// Its newest event on the default channel and those that its steps name. Null if none is kept.
    #[schema(required)]
    last_event: Option<LastEvent>,
    /// Its runs that have not ended; 1,000 at most are counted.
    open_runs: u32,
    /// The time of the next tick of any of its triggers, in epoch milliseconds. Null without schedules, and while it is not
    /// active.
    #[schema(required, value_type = Option<u64>)]
    next_tick_at_ms: Option<EpochMs>,
}

impl From<headwater_platform::WorkflowHealth> for WorkflowHealth {
    fn from(health: headwater_platform::WorkflowHealth) -> Self {
        Self {
            last_run: health.last_run.map(Run::from),
            failing_since_ms: health.failing_since_ms,
            last_event: health.last_event.map(LastEvent::from),
            open_runs: health.open_runs,
            next_tick_at_ms: health.next_tick_at_ms,
        }
    }
}

/// The newest event of a source or workflow.
#[derive(Debug, Serialize, ToSchema)]
struct LastEvent {
    #[schema(value_type = id::Event)]
    id: EventId,
    /// The time it was emitted, in epoch milliseconds.
    #[schema(value_type = u64)]
    indexed_at_ms: EpochMs,
    /// The channel; empty for the default one.
    #[schema(value_type = String)]
    event_name: Channel,
    /// The emit's `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

/// The runs that were queued in the last 24 hours, hooks included.
#[derive(Debug, Serialize, ToSchema)]
struct RecentRuns {
    runs: u32,
    /// Those that failed.
    failures: u32,
    /// Whether there may have been more: only those whose records are kept are counted, 1,000 of a kind at most.
    at_least: bool,
}

impl From<headwater_platform::LastEvent> for LastEvent {
    fn from(event: headwater_platform::LastEvent) -> Self {
        Self {
            id: event.id,
            indexed_at_ms: event.indexed_at_ms,
            event_name: event.channel,
            summary: event.summary,
        }
    }
}

impl From<headwater_platform::SourceHealth> for SourceHealth {
    fn from(health: headwater_platform::SourceHealth) -> Self {
        Self {
            last_run: health.last_run.map(Run::from),
            failing_since_ms: health.failing_since_ms,
            last_event: health.last_event.map(LastEvent::from),
            next_tick_at_ms: health.next_tick_at_ms,
            last_24_hours: RecentRuns {
                runs: health.recent.runs,
                failures: health.recent.failures,
                at_least: health.recent.are_at_least,
            },
        }
    }
}
