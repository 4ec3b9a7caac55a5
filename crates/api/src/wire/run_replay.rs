//! Replays of a run and of all that a search finds, not part of Pipedream's API.

use headwater_model::{
    id::{DeploymentId, InvocationId, SourceId, WorkflowId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{
    FoundRunsReplayed, PlatformError, ReplayFoundRuns, ReplayPlan, RunReplay, RunTrigger,
    SourceVersion,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{event::number_or_text, id, lenient, run_record::Trigger, run_search::SearchRuns};

/// A replay to start.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"from": "route.large.charge", "dry_run": true}))]
pub(crate) struct ReplayRun {
    /// The path of the step to begin with, with or without the indices of loops: the results of steps before it
    /// are used again. Absent: all is done again. Of workflows only.
    from: Option<String>,
    /// The deployment to follow: the current one, or that of the replayed run. `latest` if absent.
    #[schema(inline)]
    deployment: Option<ReplayDeployment>,
    /// The event of a source's run, required where that is not known. A workflow's run has its own again.
    event: Option<Value>,
    /// Whether only to tell what would be done, and to start nothing.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

/// The deployment that a replay follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ReplayDeployment {
    Latest,
    Same,
}

impl ReplayDeployment {
    /// Whether it is that of the replayed run.
    fn is_same(given: Option<Self>) -> bool {
        given == Some(Self::Same)
    }
}

impl ReplayRun {
    pub(crate) fn is_dry(&self) -> bool {
        self.dry_run.unwrap_or_default()
    }

    /// The version and the event of a source's run.
    ///
    /// # Errors
    /// `Invalid` for a step to begin with.
    pub(crate) fn of_source(self) -> Result<(SourceVersion, Option<Value>), PlatformError> {
        if self.from.is_some_and(|path| !path.is_empty()) {
            let reason = "`from` names a step, and the run of a source has none: leave it out";
            return Err(PlatformError::invalid("from", reason));
        }
        let version = match self.deployment {
            Some(ReplayDeployment::Same) => SourceVersion::Then,
            Some(ReplayDeployment::Latest) | None => SourceVersion::Now,
        };
        Ok((version, self.event))
    }

    /// The replay of a workflow's run.
    ///
    /// # Errors
    /// `Invalid` for an event.
    pub(crate) fn of_workflow(self) -> Result<RunReplay, PlatformError> {
        if self.event.is_some() {
            let reason = "`event` is that of the replayed run of a workflow: leave it out, or start a run with \
                          `POST /workflows/{id}/run`";
            return Err(PlatformError::invalid("event", reason));
        }
        Ok(RunReplay {
            from: self.from.filter(|path| !path.is_empty()),
            is_same: ReplayDeployment::is_same(self.deployment),
        })
    }
}

/// A replay of a workflow's run, started or planned.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Replay {
    /// The new run. Null if nothing was started.
    #[schema(required, value_type = Option<id::Invocation>)]
    id: Option<InvocationId>,
    /// The deployment that it follows.
    #[schema(value_type = id::Deployment)]
    deployment_id: DeploymentId,
    /// The paths of the steps and blocks whose results are used again.
    skips: Vec<String>,
}

impl Replay {
    pub(crate) fn new(id: Option<InvocationId>, plan: ReplayPlan) -> Self {
        Self {
            id,
            deployment_id: plan.deployment_id,
            skips: plan.kept.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Runs to replay. A name that is not known is refused: the request might reach further than it was meant to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"filter": {"status": "failed", "since": "2027-01-01"}, "dry_run": true}))]
pub(crate) struct ReplayRuns {
    /// The search; an empty one finds all runs. Of what it finds, runs of workflows that have ended are replayed.
    filter: ReplayRunsFilter,
    /// The deployment that each follows: the workflow's current one, or that of the replayed run. `latest` if absent.
    #[schema(inline)]
    deployment: Option<ReplayDeployment>,
    /// The `next` of the answer to go on from, with older runs.
    #[schema(value_type = Option<id::Invocation>)]
    after: Option<InvocationId>,
    /// Whether only to count them, and to start nothing.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

/// A search as `GET /runs` takes it. A name that is not known is refused, as it would make the search find more.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplayRunsFilter {
    /// Only runs in one of these states or with one of these outcomes, separated by commas.
    status: Option<String>,
    /// Only those of this workflow.
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// Only those of this source, which are counted and left.
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// Only those of workflows in this workspace; `org_id` means the same.
    #[serde(alias = "org_id")]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// Only those with this cause.
    #[schema(inline, value_type = Option<Trigger>)]
    trigger: Option<RunTrigger>,
    /// Only those queued at this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    since: Option<EpochMs>,
    /// Only those queued at this time or before.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    until: Option<EpochMs>,
    /// Only those that took so many milliseconds or more.
    #[serde(default, deserialize_with = "lenient::integer")]
    min_ms: Option<u32>,
    /// Only those that failed with an error whose first line has this text, in any case.
    q: Option<String>,
    /// Only those that this request caused, or that are part of this trace.
    origin: Option<String>,
}

impl From<ReplayRunsFilter> for SearchRuns {
    fn from(filter: ReplayRunsFilter) -> Self {
        Self {
            status: filter.status,
            source_id: filter.source_id,
            workflow_id: filter.workflow_id,
            workspace_id: filter.workspace_id,
            org_id: None,
            trigger: filter.trigger,
            since: filter.since,
            until: filter.until,
            min_ms: filter.min_ms,
            q: filter.q,
            origin: filter.origin,
        }
    }
}

impl TryFrom<ReplayRuns> for ReplayFoundRuns {
    type Error = PlatformError;

    fn try_from(request: ReplayRuns) -> Result<Self, PlatformError> {
        Ok(Self {
            filter: SearchRuns::from(request.filter).filter()?,
            after: request.after,
            is_same: ReplayDeployment::is_same(request.deployment),
            is_dry: request.dry_run.unwrap_or_default(),
        })
    }
}

/// The extent of a replay of runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayedRuns {
    /// Runs of workflows that the search found and that have ended.
    found: u64,
    /// Other runs that it found, which are left: of sources, and those that have not ended.
    others: u64,
    /// Runs that began again; none in a dry run.
    count: u64,
    /// Runs that did not, because their event or their deployment is not kept, or for another reason.
    refused: u64,
    /// The first 20 that were refused.
    refusals: Vec<Refusal>,
    /// Runs that were not tried after one that was refused for a reason that holds for all.
    untried: u64,
    /// The `after` to go on from, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Invocation>)]
    next: Option<InvocationId>,
}

/// A run that did not begin again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReplayRefusal)]
struct Refusal {
    #[schema(value_type = id::Invocation)]
    id: InvocationId,
    reason: String,
}

impl From<FoundRunsReplayed> for ReplayedRuns {
    fn from(all: FoundRunsReplayed) -> Self {
        let refusals = all.reasons.into_iter();
        Self {
            found: all.found,
            others: all.others,
            count: all.replayed,
            refused: all.refused,
            refusals: refusals
                .map(|(id, reason)| Refusal { id, reason })
                .collect(),
            untried: all.untried,
            next: all.next,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_replay_follows_the_current_deployment_unless_told_otherwise() {
        for (deployment, is_same) in [
            (json!(null), false),
            (json!("latest"), false),
            (json!("same"), true),
        ] {
            let request: ReplayRun =
                serde_json::from_value(json!({ "deployment": deployment })).unwrap();
            let replay = request.of_workflow().unwrap();
            assert_eq!(replay.is_same, is_same, "{deployment}");
        }
    }
}
