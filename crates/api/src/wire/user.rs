//! Users and workspaces (spec "User", "Workspace").

use headwater_app::{UserView, Workspace};
use headwater_model::id::{UserId, WorkspaceId};
use serde::Serialize;
use utoipa::ToSchema;

use super::id;

/// What a quota shows when there is none: quotas are integers, and this is the largest that every
/// client reads exactly.
const UNLIMITED: u64 = 9_007_199_254_740_991;

/// The caller, in the shape that the spec has for free users.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct User {
    #[schema(value_type = id::User)]
    id: UserId,
    username: String,
    email: String,
    /// Milliseconds.
    daily_compute_time_quota: u64,
    /// Milliseconds.
    daily_compute_time_used: u64,
    daily_invocations_quota: u64,
    daily_invocations_used: u64,
    orgs: Vec<Org>,
}

/// A workspace, as its member sees it.
#[derive(Debug, Serialize, ToSchema)]
struct Org {
    #[schema(value_type = id::Workspace)]
    id: WorkspaceId,
    orgname: String,
    name: String,
    email: String,
    daily_credits_quota: u64,
    daily_credits_used: u64,
}

impl From<UserView> for User {
    fn from(view: UserView) -> Self {
        // One invocation costs one credit. Usage is counted per user, so a workspace shows its caller's.
        let org = |workspace: Workspace| Org {
            id: workspace.id,
            orgname: workspace.orgname,
            name: workspace.name,
            email: workspace.email,
            daily_credits_quota: UNLIMITED,
            daily_credits_used: view.usage.invocations,
        };
        Self {
            id: view.identity.user.id,
            username: view.identity.user.username,
            email: view.identity.user.email,
            daily_compute_time_quota: UNLIMITED,
            daily_compute_time_used: view.usage.compute_ms,
            daily_invocations_quota: UNLIMITED,
            daily_invocations_used: view.usage.invocations,
            orgs: view.identity.workspaces.into_iter().map(org).collect(),
        }
    }
}
