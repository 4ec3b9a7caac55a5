//! Workflows: deploying, showing, changing and deleting them, and starting runs (docs/guide/workflows.md).

mod at_work;
mod cancel;
mod check;
mod code;
mod deploy;
mod deployments;
mod emitted;
mod folder;
mod lacks;
mod listing;
mod outline;
mod replay;
mod replay_found;
mod runs;
mod selection;
mod sources;
mod step_props;
mod triggers;
mod unchanged;
mod waits;

use std::collections::BTreeMap;

use headwater_model::id::{InvocationId, SourceId, TriggerId, WorkflowId, WorkspaceId};
use headwater_store::{Workflow, WorkflowState};
use headwater_workflow::finding::Finding;
use serde_json::Value;

pub use self::{
    deployments::{DeploymentSummary, DeploymentView},
    listing::RunsFilter,
    outline::{BranchOutline, NodeOutline},
    replay::{ReplayPlan, ReplayRequest as RunReplay},
    replay_found::{FoundRunsReplayed, REPLAYED_RUNS_MAX, ReplayFoundRuns},
    runs::{StepView, WaitView, WorkflowRunStatus, WorkflowRunSummary, WorkflowRunView},
    waits::{ResumeRequest, WaitAction, WaitAnswer},
};
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

/// A folder to deploy.
#[derive(Debug, Clone, Default)]
pub struct DeployWorkflow {
    /// Texts by path within the folder: `workflow.yaml` among them, and `.workflow.state` if there is one.
    pub files: BTreeMap<String, String>,
    /// The workspace that a new workflow is to live in.
    pub workspace_id: Option<WorkspaceId>,
    /// Whether steps do without accounts, as in a test that stands in for them.
    pub lacks_accounts: bool,
}

/// A deployed workflow.
#[derive(Debug, Clone)]
pub struct DeployedWorkflow {
    /// The workflow.
    pub workflow: WorkflowView,
    /// The text of `.workflow.state` to keep beside the definition.
    pub state_file: String,
    /// Things to know about the definition.
    pub findings: Vec<Finding>,
}

/// A workflow as responses show it.
#[derive(Debug, Clone)]
pub struct WorkflowView {
    /// The record.
    pub workflow: Workflow,
    /// Its triggers, in the order of its file.
    pub triggers: Vec<TriggerView>,
}

impl WorkflowView {
    /// Whether its triggers are on.
    pub fn is_active(&self) -> bool {
        self.workflow.state == WorkflowState::Active
    }
}

/// A trigger as responses show it.
#[derive(Debug, Clone)]
pub struct TriggerView {
    /// Its id.
    pub id: TriggerId,
    /// `http`, `schedule`, `email`, `source` or `events`.
    pub kind: &'static str,
    /// The URL for requests.
    pub endpoint_url: Option<String>,
    /// The address for mail.
    pub mailbox: Option<String>,
    /// `{interval_seconds}` or `{cron, timezone}`.
    pub schedule: Option<Value>,
    /// The source that the workflow deployed.
    pub source_id: Option<SourceId>,
    /// The emitters listened to.
    pub emitter: Option<String>,
}

/// `PATCH /workflows/{id}`: fields that are `None` stay.
#[derive(Debug, Clone, Default)]
pub struct UpdateWorkflow {
    /// Whether its triggers are on.
    pub active: Option<bool>,
}

impl Platform {
    /// A workflow that the caller may see.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn workflow(
        &self,
        caller: &Caller,
        id: &WorkflowId,
    ) -> Result<WorkflowView, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        self.workflow_view(workflow).await
    }

    /// A workflow that the caller may see, which is not being deleted.
    pub(crate) async fn visible_workflow(
        &self,
        caller: &Caller,
        id: &WorkflowId,
    ) -> Result<Workflow, PlatformError> {
        let found = self.core.store.workflow(id).await?;
        let found = found
            .filter(|found| caller.may_see(&found.owner) && found.state != WorkflowState::Deleting);
        found.ok_or_else(|| PlatformError::not_found("workflow", id))
    }

    /// Starts a run of a workflow with that event, durably, and returns its id. One whose triggers are off is started, too.
    ///
    /// # Errors
    /// `Conflict` when as many runs wait as may, `QuotaExceeded` when its user has had its invocations of the day.
    pub async fn run_workflow(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        event: Option<Value>,
    ) -> Result<InvocationId, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        let event = event.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        let event = serde_json::value::to_raw_value(&event)
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let started = self
            .start_run(&workflow, headwater_store::Trigger::Manual, event, None)
            .await?;
        let act = Act::on_workflow(AuditAction::WorkflowRun, &workflow);
        self.record(caller, act.with("run_id", started.as_str()))
            .await;
        Ok(started)
    }
}
