//! Workspaces and their members, and how a request selects one.

use headwater_model::id::WorkspaceId;
use headwater_platform::{NewWorkspace, WorkspaceView};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::id;

/// The parameters of every listing that can be one of a workspace.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WorkspaceScope {
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl WorkspaceScope {
    pub(crate) fn workspace_id(self) -> Option<WorkspaceId> {
        self.workspace_id.or(self.org_id)
    }
}

/// A workspace to create.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CreateWorkspace {
    /// 1 to 64 lower-case letters, digits and hyphens; unique.
    #[schema(required, nullable = false)]
    orgname: Option<String>,
    /// The orgname by default.
    name: Option<String>,
    /// The caller's by default.
    email: Option<String>,
}

impl From<CreateWorkspace> for NewWorkspace {
    fn from(request: CreateWorkspace) -> Self {
        Self {
            orgname: request.orgname.unwrap_or_default(),
            name: request.name.filter(|name| !name.is_empty()),
            email: request.email.filter(|email| !email.is_empty()),
        }
    }
}

/// A user to add as a member, by id or username.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct AddMember {
    #[schema(value_type = Option<id::User>)]
    user_id: Option<String>,
    username: Option<String>,
}

impl AddMember {
    pub(crate) fn user(self) -> String {
        self.user_id.or(self.username).unwrap_or_default()
    }
}

/// A workspace. One invocation of a source in it costs one credit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Workspace {
    #[schema(value_type = id::Workspace)]
    id: WorkspaceId,
    orgname: String,
    name: String,
    email: String,
    /// Always null: workspaces have no quota. Quotas of compute time and invocations are left out.
    #[schema(required)]
    daily_credits_quota: Option<u64>,
    daily_credits_used: u64,
    /// Milliseconds.
    daily_compute_time_used: u64,
    daily_invocations_used: u64,
}

impl From<WorkspaceView> for Workspace {
    fn from(view: WorkspaceView) -> Self {
        Self {
            id: view.workspace.id,
            orgname: view.workspace.orgname,
            name: view.workspace.name,
            email: view.workspace.email,
            daily_credits_quota: None,
            daily_credits_used: view.usage.invocations,
            daily_compute_time_used: view.usage.compute_ms,
            daily_invocations_used: view.usage.invocations,
        }
    }
}
