//! The health of sources and workflows: what a list of them shows of their runs, events and timers.
//!
//! Everything in it is read from rows that exist anyway; nothing is counted for it when a run is committed.

use async_trait::async_trait;
use headwater_model::{
    channel::Channel,
    id::{EventId, SourceId, WorkflowId},
    time::EpochMs,
};

use crate::{error::StoreError, runs::RunRecord};

/// Runs of one kind, succeeded or failed, that are counted of one source.
pub const RECENT_RUNS_COUNTED_MAX: u32 = 1_000;

/// Runs of a workflow that have not ended and are counted.
pub const OPEN_RUNS_COUNTED_MAX: u32 = 1_000;

/// The state of a source, from the newest of its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceHealth {
    /// The newest run that has ended, hooks included.
    pub last_run: Option<RunRecord>,
    /// The start of the first of the runs that failed one after the other up to now; none if the last one succeeded.
    pub failing_since_ms: Option<EpochMs>,
    /// The newest event on its ordinary channels.
    pub last_event: Option<LastEvent>,
    /// The next tick of any of its timers; none while it is not active.
    pub next_tick_at_ms: Option<EpochMs>,
    /// Its runs of late.
    pub recent: RecentRuns,
}

/// The newest event of a source or workflow, without its data.
#[derive(Debug, Clone, PartialEq)]
pub struct LastEvent {
    /// Its id.
    pub id: EventId,
    /// The time it was appended, in epoch milliseconds.
    pub indexed_at_ms: EpochMs,
    /// Its channel.
    pub channel: Channel,
    /// The emit's `summary`.
    pub summary: Option<String>,
}

/// The number of runs since a moment, as far as their records are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecentRuns {
    /// All of them.
    pub runs: u32,
    /// Those that failed.
    pub failures: u32,
    /// Whether there may have been more: retention keeps no more records of a kind, or no more are counted.
    pub are_at_least: bool,
}

/// The state of a workflow, from the newest of its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkflowHealth {
    /// The newest run that has ended.
    pub last_run: Option<RunRecord>,
    /// The start of the first of the runs that failed one after the other up to now; none if the last one succeeded.
    pub failing_since_ms: Option<EpochMs>,
    /// The newest event on its ordinary channels.
    pub last_event: Option<LastEvent>,
    /// Its runs that have not ended: [`OPEN_RUNS_COUNTED_MAX`] at most are counted.
    pub open_runs: u32,
    /// The next tick of any of its timers; none while it is not active.
    pub next_tick_at_ms: Option<EpochMs>,
}

/// The health of many sources or workflows in one read.
#[async_trait]
pub trait SourcesHealth {
    /// The health of each of these sources, in their order, with the runs that were queued at `since_ms` or later. The
    /// cost depends on the number of sources alone. A source that is not there has no runs, events or ticks.
    /// MUST tell since when the runs of a source fail, however many of the failures retention has deleted
    /// (`conformance::source_health::a_source_fails_since_the_first_failure_after_a_success`).
    /// MUST say where its counts are of what is left only
    /// (`conformance::source_health::counts_of_runs_that_may_have_been_trimmed_say_so`).
    /// MUST NOT show events that a requested deletion covers, nor ticks of a source that is not active
    /// (`conformance::source_health::health_has_the_newest_event_and_the_next_tick`).
    async fn sources_health(
        &self,
        ids: &[SourceId],
        since_ms: EpochMs,
    ) -> Result<Vec<SourceHealth>, StoreError>;

    /// The health of each of these workflows, in their order. The cost depends on the number of workflows alone. A workflow
    /// that is not there has no runs, events or ticks.
    /// MUST NOT show ticks of a workflow that is not active, and counts runs that wait
    /// (`conformance::workflow_runs::health_of_workflows_has_open_runs_and_the_next_tick`).
    async fn workflows_health(&self, ids: &[WorkflowId])
    -> Result<Vec<WorkflowHealth>, StoreError>;
}
