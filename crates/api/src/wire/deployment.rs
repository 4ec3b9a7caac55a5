//! The deployments of workflows; not part of Pipedream's API.

use headwater_model::{id::DeploymentId, time::EpochMs};
use headwater_platform::{BranchOutline, DeploymentSummary, DeploymentView, NodeOutline};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::id;

/// A deployment of a workflow in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDeploymentSummary)]
pub(crate) struct Summary {
    #[schema(value_type = id::Deployment)]
    id: DeploymentId,
    /// Epoch milliseconds.
    #[schema(value_type = u64)]
    created_at_ms: EpochMs,
    /// Whether new runs follow it.
    current: bool,
    /// The former deployment whose files it has, if it came from rolling back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Deployment>)]
    restores: Option<DeploymentId>,
}

/// The way back to a former deployment.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"deployment_id": "d_0DkqLtSyJ4yOMpWg5tVxNq"}))]
pub(crate) struct RollBackWorkflow {
    /// The deployment whose files are to be deployed again.
    #[schema(value_type = id::Deployment)]
    pub(crate) deployment_id: DeploymentId,
}

/// A deployment of a workflow with its steps.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDeployment)]
pub(crate) struct Deployment {
    #[serde(flatten)]
    deployment: Summary,
    /// The paths of the folder's files.
    files: Vec<String>,
    /// Steps and blocks in the order of the file, each behind the one that it is in.
    steps: Vec<Node>,
}

/// A step or block as its file has it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowNode)]
struct Node {
    /// Its path, such as `route.large.send`.
    path: String,
    /// The path of the block that it is in, or of the step whose handler it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// The branch of that block; `on_error` in a handler.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    namespace: String,
    /// `step`, or the block's type.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The code of a step: a file of the folder, or an action. Absent if it is in `workflow.yaml` itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<String>,
    /// The condition without which it is skipped, in words.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// The props of a step, with their expressions, or the other keys of a block. Times are in milliseconds.
    settings: Map<String, Value>,
    /// The props whose values are secret, and therefore null.
    secrets: Vec<String>,
    /// The branches of a block.
    branches: Vec<Branch>,
    /// The time that a try may take, in milliseconds; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    /// Tries; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    /// The consequence of its failure: `fail`, `continue` or `steps`.
    on_error: &'static str,
    disabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
}

/// A branch of a block.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowBranch)]
struct Branch {
    name: String,
    /// The condition under which it is taken, in words.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

impl From<DeploymentSummary> for Summary {
    fn from(deployment: DeploymentSummary) -> Self {
        Self {
            id: deployment.id,
            created_at_ms: deployment.created_at_ms,
            current: deployment.is_current,
            restores: deployment.restores,
        }
    }
}

impl From<DeploymentView> for Deployment {
    fn from(view: DeploymentView) -> Self {
        Self {
            deployment: view.deployment.into(),
            files: view.files,
            steps: view.nodes.into_iter().map(Node::from).collect(),
        }
    }
}

impl From<NodeOutline> for Node {
    fn from(node: NodeOutline) -> Self {
        Self {
            path: node.path.to_string(),
            parent: node.parent.map(|path| path.to_string()),
            branch: node.branch,
            namespace: node.namespace,
            kind: node.kind,
            uses: node.uses,
            condition: node.condition,
            settings: node.settings,
            secrets: node.secrets,
            branches: node.branches.into_iter().map(Branch::from).collect(),
            timeout_ms: node.timeout_ms,
            attempts: node.attempts,
            on_error: node.on_error,
            disabled: node.is_disabled,
            notes: node.notes,
        }
    }
}

impl From<BranchOutline> for Branch {
    fn from(branch: BranchOutline) -> Self {
        Self {
            name: branch.name,
            condition: branch.condition,
        }
    }
}
