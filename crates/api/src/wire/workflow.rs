//! Workflows: folders to deploy, and workflows with their triggers.

use std::collections::BTreeMap;

use headwater_model::{
    id::{DeploymentId, InvocationId, SourceId, TriggerId, UserId, WorkflowId, WorkspaceId},
    time::EpochSeconds,
};
use headwater_platform::{TriggerView, WorkflowFinding, WorkflowView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{WorkspaceScope, id, lenient, source_health::WorkflowHealth};

/// A folder to deploy: as a new workflow, or as the new deployment of the one that its `.workflow.state` names.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"files": {
    "workflow.yaml": "name: Greeting\ntriggers:\n- type: http\nsteps:\n- namespace: greet\n",
    "greet/entry.js": "export default { run({ steps }) { return steps.trigger.event.body } }",
}}))]
pub(crate) struct DeployWorkflow {
    /// The texts of the folder's files by their paths in it, such as `greet/entry.js`: `workflow.yaml` among
    /// them, and `.workflow.state` if there is one.
    #[serde(default)]
    #[schema(required)]
    files: BTreeMap<String, String>,
    /// The workspace that a new workflow is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl DeployWorkflow {
    /// Files that came in an archive.
    pub(crate) fn of_archive(files: BTreeMap<String, String>, scope: WorkspaceScope) -> Self {
        Self {
            files,
            workspace_id: scope.workspace_id(),
            org_id: None,
        }
    }
}

impl From<DeployWorkflow> for headwater_platform::DeployWorkflow {
    fn from(request: DeployWorkflow) -> Self {
        Self {
            files: request.files,
            workspace_id: request.workspace_id.or(request.org_id),
            lacks_accounts: false,
        }
    }
}

/// A change of a workflow.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"active": false}))]
pub(crate) struct UpdateWorkflow {
    /// Whether its triggers are to start runs, until the next deployment says otherwise.
    #[serde(default, deserialize_with = "lenient::boolean")]
    active: Option<bool>,
}

impl From<UpdateWorkflow> for headwater_platform::UpdateWorkflow {
    fn from(request: UpdateWorkflow) -> Self {
        Self {
            active: request.active,
        }
    }
}

/// A run by hand.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"event": {"name": "Ada"}}))]
pub(crate) struct RunWorkflow {
    /// `steps.trigger.event`; `{}` if absent.
    pub(crate) event: Option<Value>,
}

/// A run that has been queued.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartedRun {
    #[schema(value_type = id::Invocation)]
    pub(crate) id: InvocationId,
}

/// A workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Workflow {
    #[schema(value_type = id::Workflow)]
    id: WorkflowId,
    name: String,
    name_slug: String,
    /// Whether its triggers start runs.
    active: bool,
    /// The workspace that it is in, or else its user.
    #[schema(value_type = id::Owner)]
    owner_id: String,
    /// The user who deployed it first.
    #[schema(value_type = id::User)]
    user_id: UserId,
    /// The deployment that new runs follow.
    #[schema(value_type = id::Deployment)]
    deployment_id: DeploymentId,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
    /// In the order of its file.
    triggers: Vec<Trigger>,
    /// With `expand=health`: its newest run, since when it fails, its open runs, its next tick.
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<WorkflowHealth>,
}

impl Workflow {
    /// The workflow with its health, if that is to be shown.
    pub(crate) fn with_health(self, health: Option<headwater_platform::WorkflowHealth>) -> Self {
        let health = health.map(WorkflowHealth::from);
        Self { health, ..self }
    }
}

/// A trigger of a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTrigger)]
struct Trigger {
    #[schema(value_type = id::Trigger)]
    id: TriggerId,
    #[serde(rename = "type")]
    #[schema(inline, value_type = TriggerType)]
    kind: &'static str,
    /// The URL for requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_url: Option<String>,
    /// The address for mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    mailbox: Option<String>,
    /// `{"cron", "interval_seconds"}`, one of them null; `timezone` beside a cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    schedule: Option<Value>,
    /// The source that the workflow deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// The emitter that it listens to, or a pattern such as `dc_*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    emitter_id: Option<String>,
}

/// The type of a trigger.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for the platform's text where a shape is described"
)]
enum TriggerType {
    Http,
    Schedule,
    Email,
    Source,
    Events,
}

/// A deployed workflow, and what its folder needs to know.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeployedWorkflow {
    #[serde(flatten)]
    workflow: Workflow,
    /// The text to keep as `.workflow.state` beside `workflow.yaml`: without it, the next deployment creates
    /// another workflow.
    state_file: String,
    /// Warnings and notes about the definition.
    findings: Vec<Finding>,
}

/// Something to know about a definition.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Finding {
    #[schema(inline, value_type = Severity)]
    severity: &'static str,
    /// The line in `workflow.yaml`, from 1.
    line: usize,
    /// The column in characters, from 1.
    column: usize,
    /// The step or block; absent if it is about the workflow as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    message: String,
}

impl From<WorkflowFinding> for Finding {
    fn from(finding: WorkflowFinding) -> Self {
        Self {
            severity: finding.severity.as_str(),
            line: finding.place.line,
            column: finding.place.column,
            path: finding.place.path.map(|path| path.to_string()),
            message: finding.message,
        }
    }
}

/// How much a finding matters. Errors refuse a deployment.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for the platform's text where a shape is described"
)]
enum Severity {
    Error,
    Warning,
    Note,
}

impl From<WorkflowView> for Workflow {
    fn from(view: WorkflowView) -> Self {
        let active = view.is_active();
        let workflow = view.workflow;
        Self {
            id: workflow.id,
            name: workflow.name,
            name_slug: workflow.name_slug,
            active,
            owner_id: workflow.owner.tenant().to_owned(),
            user_id: workflow.owner.user_id,
            deployment_id: workflow.deployment_id,
            created_at: workflow.created_at,
            updated_at: workflow.updated_at,
            triggers: view.triggers.into_iter().map(Trigger::from).collect(),
            health: None,
        }
    }
}

impl From<TriggerView> for Trigger {
    fn from(view: TriggerView) -> Self {
        Self {
            id: view.id,
            kind: view.kind,
            endpoint_url: view.endpoint_url,
            mailbox: view.mailbox,
            schedule: view.schedule,
            source_id: view.source_id,
            emitter_id: view.emitter,
        }
    }
}

impl From<headwater_platform::DeployedWorkflow> for DeployedWorkflow {
    fn from(deployed: headwater_platform::DeployedWorkflow) -> Self {
        let findings = deployed.findings.into_iter();
        Self {
            workflow: deployed.workflow.into(),
            state_file: deployed.state_file,
            findings: findings.map(Finding::from).collect(),
        }
    }
}
