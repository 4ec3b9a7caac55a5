//! Users.

use headwater_model::{id::UserId, time::EpochSeconds};
use headwater_platform::{PlanView, UserView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Workspace, id};

/// The caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    #[schema(value_type = id::User)]
    id: UserId,
    username: String,
    email: String,
    #[serde(flatten)]
    plan: Plan,
}

/// The quotas of free users, or the billing period of paid ones. One invocation costs one credit.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Plan {
    /// With `--plan free`, the default.
    Free {
        /// Null: there is none.
        #[schema(required)]
        daily_compute_time_quota: Option<u64>,
        /// Milliseconds.
        daily_compute_time_used: u64,
        /// Null if there is none.
        #[schema(required)]
        daily_invocations_quota: Option<u64>,
        daily_invocations_used: u64,
        orgs: Vec<Workspace>,
    },
    /// With `--plan paid`: the billing period is a calendar month (UTC).
    Paid {
        #[schema(value_type = u64)]
        billing_period_start_ts: EpochSeconds,
        #[schema(value_type = u64)]
        billing_period_end_ts: EpochSeconds,
        billing_period_credits: u64,
    },
}

impl From<UserView> for Me {
    fn from(view: UserView) -> Self {
        let plan = match view.plan {
            PlanView::Free {
                invocations_quota,
                usage,
                workspaces,
            } => Plan::Free {
                daily_compute_time_quota: None,
                daily_compute_time_used: usage.compute_ms,
                daily_invocations_quota: invocations_quota,
                daily_invocations_used: usage.invocations,
                orgs: workspaces.into_iter().map(Workspace::from).collect(),
            },
            PlanView::Paid {
                period_start_at,
                period_end_at,
                usage,
            } => Plan::Paid {
                billing_period_start_ts: period_start_at,
                billing_period_end_ts: period_end_at,
                billing_period_credits: usage.invocations,
            },
        };
        Self {
            id: view.identity.user.id,
            username: view.identity.user.username,
            email: view.identity.user.email,
            plan,
        }
    }
}

/// A user to create.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CreateUser {
    /// 1 to 64 letters, digits, dots, underscores and hyphens; unique.
    #[schema(required, nullable = false)]
    pub(crate) username: Option<String>,
    /// Its address.
    #[schema(required, nullable = false)]
    pub(crate) email: Option<String>,
}

/// A user as administrators and fellow members see it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct User {
    #[schema(value_type = id::User)]
    id: UserId,
    username: String,
    email: String,
    is_admin: bool,
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
}

/// A user that has just been created, with their first key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewUser {
    #[serde(flatten)]
    shown: User,
    /// Shown only here.
    api_key: String,
}

impl From<headwater_platform::User> for User {
    fn from(user: headwater_platform::User) -> Self {
        Self {
            id: user.id,
            username: user.username,
            email: user.email,
            is_admin: user.is_admin,
            created_at: user.created_at,
        }
    }
}

impl From<headwater_platform::NewUser> for NewUser {
    fn from(new: headwater_platform::NewUser) -> Self {
        Self {
            shown: new.user.into(),
            api_key: new.api_key,
        }
    }
}
