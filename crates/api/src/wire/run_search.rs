//! Runs of all sources and workflows, not part of Pipedream's API.

use headwater_model::{
    id::{RunnableId, SourceId, WorkflowId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{
    PlatformError, RunEntry, RunSearchFilter, RunState, RunTrigger, RunVersion,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    delivery_search::CappedCount,
    id, lenient,
    run_record::{RunOutcome, Trigger},
    workflow_run::RunSummary,
};

/// `GET /runs` and `GET /runs/counts`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchRuns {
    /// Only runs in one of these states, separated by commas: `open` (not ended), `succeeded`, `failed`, `cancelled`, or an
    /// outcome: `threw`, `wall_limit`, `memory_limit`, `output_limit`, `lost`, `returned`. `failed` is all outcomes but
    /// `returned` and `cancelled`.
    pub(super) status: Option<String>,
    /// Only those of this source.
    #[param(value_type = Option<id::Source>)]
    pub(super) source_id: Option<SourceId>,
    /// Only those of this workflow.
    #[param(value_type = Option<id::Workflow>)]
    pub(super) workflow_id: Option<WorkflowId>,
    /// Only those of sources and workflows in this workspace.
    #[param(value_type = Option<id::Workspace>)]
    pub(super) workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    pub(super) org_id: Option<WorkspaceId>,
    /// Only those with this cause.
    #[param(inline, value_type = Option<Trigger>)]
    pub(super) trigger: Option<RunTrigger>,
    /// Only those queued at this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    pub(super) since: Option<EpochMs>,
    /// Only those queued at this time or before.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    pub(super) until: Option<EpochMs>,
    /// Only those that took so many milliseconds or more; of open ones, since they were queued.
    #[serde(default, deserialize_with = "lenient::integer")]
    pub(super) min_ms: Option<u32>,
    /// Only those that failed with an error whose first line has this text, in any case.
    pub(super) q: Option<String>,
    /// Only those that this request caused, or that are part of this trace: the id of either, as runs tell it.
    pub(super) origin: Option<String>,
}

impl SearchRuns {
    /// The filter that is meant.
    pub(crate) fn filter(self) -> Result<RunSearchFilter, PlatformError> {
        let runnable = match (self.source_id, self.workflow_id) {
            (None, None) => None,
            (Some(id), None) => Some(RunnableId::Source(id)),
            (None, Some(id)) => Some(RunnableId::Workflow(id)),
            (Some(_), Some(_)) => {
                let reason = "give `source_id` or `workflow_id`, not both";
                return Err(PlatformError::invalid("workflow_id", reason));
            }
        };
        let states = self.status.map(|status| {
            let words = status.split(',').map(|word| word.trim().parse());
            words.collect::<Result<Vec<RunState>, _>>()
        });
        let states = states
            .transpose()
            .map_err(|error| PlatformError::invalid("status", error.to_string()))?;
        Ok(RunSearchFilter {
            states: states.map(|states| RunState::together(&states)),
            workspace_id: self.workspace_id.or(self.org_id),
            runnable,
            trigger: self.trigger,
            since_ms: self.since,
            until_ms: self.until,
            min_ms: self.min_ms.map(u64::from),
            words: self.q.filter(|words| !words.is_empty()),
            origin: self.origin.filter(|id| !id.is_empty()),
        })
    }
}

/// `GET /runs/hours`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunHoursRequest {
    /// The workspace whose sources and workflows are meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl RunHoursRequest {
    pub(crate) fn workspace_id(self) -> Option<WorkspaceId> {
        self.workspace_id.or(self.org_id)
    }
}

/// A run of a source or workflow in the list of all.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RunEntry)]
pub(crate) struct ListedRun {
    #[serde(flatten)]
    run: RunSummary,
    /// The source; absent if a workflow ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// The workflow; absent if a source ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// The name of the source or workflow.
    name: String,
    #[serde(flatten)]
    ended: Option<Ended>,
}

/// The end of a run; all of it is absent until then.
#[derive(Debug, Serialize, ToSchema)]
struct Ended {
    #[schema(inline, required = false)]
    outcome: RunOutcome,
    /// The time from `started_at_ms` to `ended_at_ms`.
    #[schema(required = false)]
    duration_ms: u64,
    /// Events that it appended, those to be released later included.
    #[schema(required = false)]
    emitted: u32,
    /// Events that dedupe did not let through.
    #[schema(required = false)]
    dropped: u32,
    /// The version of the code that ran, if a source ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Component>)]
    component_id: Option<RunVersion>,
}

impl From<RunEntry> for ListedRun {
    fn from(entry: RunEntry) -> Self {
        let (source_id, workflow_id) = match entry.runnable {
            RunnableId::Source(id) => (Some(id), None),
            RunnableId::Workflow(id) => (None, Some(id)),
        };
        let ended = entry.ended.map(|ended| Ended {
            outcome: ended.outcome.into(),
            // A clock may step back.
            duration_ms: ended.ended_at_ms.0.saturating_sub(ended.started_at_ms.0),
            emitted: ended.emitted,
            dropped: ended.dropped.count,
            component_id: match ended.version {
                version @ RunVersion::Component(_) => Some(version),
                RunVersion::Deployment(_) => None,
            },
        });
        Self {
            run: entry.run.into(),
            source_id,
            workflow_id,
            name: entry.name,
            ended,
        }
    }
}

/// Runs by state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunCounts {
    /// Those that have not ended.
    open: CappedCount,
    succeeded: CappedCount,
    failed: CappedCount,
    cancelled: CappedCount,
}

impl From<headwater_platform::RunCounts> for RunCounts {
    fn from(counts: headwater_platform::RunCounts) -> Self {
        Self {
            open: counts.open.into(),
            succeeded: counts.succeeded.into(),
            failed: counts.failed.into(),
            cancelled: counts.cancelled.into(),
        }
    }
}

/// The runs of an hour that have ended, whether their records are kept or not.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunHour {
    /// The beginning of the hour in which they were queued, in epoch milliseconds.
    #[schema(value_type = u64)]
    since_ms: EpochMs,
    succeeded: u64,
    failed: u64,
}

impl From<headwater_platform::RunHour> for RunHour {
    fn from(hour: headwater_platform::RunHour) -> Self {
        Self {
            since_ms: hour.since_ms(),
            succeeded: hour.succeeded,
            failed: hour.failed,
        }
    }
}
