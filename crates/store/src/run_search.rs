//! Runs of all sources and workflows that somebody may see: found, counted, and counted by the hour.

use async_trait::async_trait;
use headwater_model::{
    id::{InvocationId, RunnableId, WorkspaceId},
    page::PageRequest,
    time::EpochMs,
};

use crate::{
    delivery_search::CappedCount,
    error::StoreError,
    runs::{ListedRun, RunOutcome, RunTrigger},
    tenants::Viewer,
};

/// Runs that one search looks at.
pub const RUNS_SEARCHED_MAX: u32 = 10_000;

/// The states of runs to find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunStates {
    /// Whether those that have not ended are meant.
    pub open: bool,
    /// The outcomes of those that have.
    pub outcomes: Vec<RunOutcome>,
}

/// Runs to find; a field that is `None` does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSearchFilter {
    /// Their states.
    pub states: Option<RunStates>,
    /// Only those of what lives in this workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// Their source or workflow.
    pub runnable: Option<RunnableId>,
    /// Their cause.
    pub trigger: Option<RunTrigger>,
    /// The earliest time in an id, when the run was queued, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// The latest one.
    pub until_ms: Option<EpochMs>,
    /// The milliseconds from start to end; of those that have not ended, from when they were queued until now.
    pub min_ms: Option<u64>,
    /// Text that the error has, in ASCII letters of any case.
    pub words: Option<String>,
    /// The id of the request that caused them, or of the trace that they are part of.
    pub origin: Option<String>,
}

/// A run that was found.
#[derive(Debug, Clone)]
pub struct FoundRun {
    /// The run.
    pub run: ListedRun,
    /// The name of its source or workflow.
    pub name: String,
}

/// A page of runs.
#[derive(Debug, Clone)]
pub struct FoundRuns {
    /// Newest first.
    pub items: Vec<FoundRun>,
    /// The place at which the search stopped because it had looked at [`RUNS_SEARCHED_MAX`]: the next page begins behind
    /// it, in the direction of the search.
    pub searched_to: Option<InvocationId>,
}

/// Runs per state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Those that have not ended.
    pub open: CappedCount,
    /// Those that returned.
    pub succeeded: CappedCount,
    /// Those that threw, were ended at a limit, or whose worker was lost.
    pub failed: CappedCount,
    /// Those that were cancelled.
    pub cancelled: CappedCount,
}

impl RunCounts {
    /// Those in any state.
    pub fn total(&self) -> CappedCount {
        let all = [self.open, self.succeeded, self.failed, self.cancelled];
        CappedCount {
            count: all.iter().map(|one| one.count).sum(),
            is_capped: all.iter().any(|one| one.is_capped),
        }
    }
}

/// The runs of an hour that have ended, whether their records are kept or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunHour {
    /// The hour in which they were queued, counted from 1970-01-01.
    pub hour: u64,
    /// Those that returned.
    pub succeeded: u64,
    /// Those that threw, were ended at a limit, or whose worker was lost.
    pub failed: u64,
}

impl RunHour {
    /// The beginning of the hour, epoch milliseconds.
    pub fn since_ms(self) -> EpochMs {
        EpochMs(self.hour * 60 * 60 * 1_000)
    }
}

/// The runs of a viewer's sources and workflows, whichever.
///
/// Every search and count looks at a bounded number of runs, in the order of their ids: the viewer's, and where more of
/// these than one search looks at have not ended, those of others among them. Its cost depends on that number and on the
/// number of the viewer's sources and workflows, not on how many runs there are.
#[async_trait]
pub trait RunSearch {
    /// A page of the runs that the filter describes, newest first, whether they have ended or not.
    /// MUST NOT find runs of what the viewer may not see
    /// (`conformance::run_search::runs_of_other_tenants_are_not_found`), nor of what is being deleted
    /// (`conformance::run_search::runs_of_what_is_being_deleted_are_not_found`).
    /// MUST page both ways over all sources and workflows, open runs among those that have ended
    /// (`conformance::run_search::runs_of_all_sources_are_paged_both_ways`), and find those of the filter alone
    /// (`conformance::run_search::runs_are_found_by_each_field_of_the_filter`).
    /// MUST page over any number of those that have not ended
    /// (`conformance::run_search::more_open_runs_than_one_search_looks_at_are_paged_both_ways`).
    /// MUST look at [`RUNS_SEARCHED_MAX`] at most, and say where it stopped
    /// (`conformance::run_search::a_search_of_runs_is_bounded_and_goes_on_where_it_stopped`), however many of others are
    /// among them, and without naming one (`conformance::run_search::open_runs_of_others_bound_a_search_too`).
    async fn find_runs(
        &self,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        page: &PageRequest<InvocationId>,
        now_ms: EpochMs,
    ) -> Result<FoundRuns, StoreError>;

    /// The runs that the filter describes, by state. MUST look at `limit` at most of each state, and say so when there are
    /// more (`conformance::run_search::counts_of_runs_are_capped`).
    async fn count_runs(
        &self,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        limit: u32,
        now_ms: EpochMs,
    ) -> Result<RunCounts, StoreError>;

    /// The runs that have ended, hour by hour from that of `since_ms` to that of `until_ms`, both included, oldest first,
    /// without hours that have none: those of all that the viewer may see, or of a workspace of it. Cancelled ones do not
    /// count.
    /// MUST count runs whose records are gone or were never written
    /// (`conformance::run_search::runs_are_counted_by_the_hour_after_their_records_are_gone`).
    /// MUST NOT count those of other tenants (`conformance::run_search::runs_of_other_tenants_are_not_counted_by_the_hour`).
    async fn run_hours(
        &self,
        viewer: &Viewer,
        workspace_id: Option<&WorkspaceId>,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Vec<RunHour>, StoreError>;
}
