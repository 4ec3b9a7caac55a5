//! Connected accounts. Their credentials come in and never go out.

use std::time::Duration;

use headwater_model::{
    id::{AccountId, ConnectId, UserId, WorkspaceId},
    prop::ConfiguredProps,
    time::EpochSeconds,
};
use headwater_platform::AccountsFilter;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{id, lenient};

/// Longer waits would end at proxies.
const PATIENCE_MAX_S: u32 = 60;

/// Credentials of an app to keep.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"app": "shop", "fields": {"api_key": "…"}}))]
pub(crate) struct CreateAccount {
    /// Name slug of the app, as in app props.
    #[schema(required, nullable = false)]
    app: Option<String>,
    /// To tell accounts of one app apart; the app's name by default.
    name: Option<String>,
    /// The fields of `$auth`. Stored encrypted and never shown.
    #[serde(default, deserialize_with = "lenient::object")]
    #[schema(value_type = Option<Object>)]
    fields: Option<ConfiguredProps>,
    /// The workspace that it is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl From<CreateAccount> for headwater_platform::NewAccount {
    fn from(request: CreateAccount) -> Self {
        Self {
            app: request.app.unwrap_or_default(),
            name: request.name.filter(|name| !name.is_empty()),
            fields: request.fields.unwrap_or_default(),
            workspace_id: request.workspace_id.or(request.org_id),
        }
    }
}

/// A change of an account.
#[derive(Deserialize, ToSchema)]
pub(crate) struct UpdateAccount {
    /// To tell accounts of one app apart, up to 256 characters.
    #[schema(nullable = false)]
    pub(crate) name: Option<String>,
    /// New values of fields of `$auth`; null removes one, and the others stay.
    #[serde(default, deserialize_with = "lenient::object")]
    #[schema(value_type = Option<Object>)]
    pub(crate) fields: Option<ConfiguredProps>,
}

/// The accounts to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AccountsRequest {
    /// Only accounts of this app, by its name slug.
    app: Option<String>,
    /// Only accounts of this health.
    health: Option<HealthStatus>,
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl AccountsRequest {
    /// The workspace and the filter.
    pub(crate) fn parts(self) -> (Option<WorkspaceId>, AccountsFilter) {
        let filter = AccountsFilter {
            app: self.app.filter(|app| !app.is_empty()),
            health: self.health.map(Into::into),
        };
        (self.workspace_id.or(self.org_id), filter)
    }
}

/// An account to be connected in a browser.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"app": "github", "name": "work"}))]
pub(crate) struct ConnectAccount {
    /// Name slug of an app in the catalog.
    #[schema(required, nullable = false)]
    app: Option<String>,
    /// To tell accounts of one app apart; the app's slug by default.
    name: Option<String>,
    /// Known values of the app's fields; the browser form asks for the others.
    #[serde(default, deserialize_with = "lenient::object")]
    #[schema(value_type = Option<Object>)]
    fields: Option<ConfiguredProps>,
    /// The workspace that it is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl From<ConnectAccount> for headwater_platform::NewConnect {
    fn from(request: ConnectAccount) -> Self {
        Self {
            app: request.app.unwrap_or_default(),
            name: request.name.filter(|name| !name.is_empty()),
            fields: request.fields.unwrap_or_default(),
            workspace_id: request.workspace_id.or(request.org_id),
        }
    }
}

/// A link to follow in a browser.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConnectLink {
    /// The id for `GET /v1/accounts/connect/{id}`, which returns the result.
    #[schema(value_type = id::Connect)]
    id: ConnectId,
    /// The link, which works once. Anyone who has it can connect an account for you.
    url: String,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    expires_at: EpochSeconds,
}

impl From<headwater_platform::ConnectLink> for ConnectLink {
    fn from(link: headwater_platform::ConnectLink) -> Self {
        Self {
            id: link.id,
            url: link.url,
            expires_at: link.expires_at,
        }
    }
}

/// The query of `GET /v1/accounts/connect/{id}`: the longest time to wait.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// Seconds to wait for the end, at most 60; none by default.
    #[serde(default, deserialize_with = "lenient::integer")]
    #[param(value_type = Option<u32>, maximum = 60)]
    wait_s: Option<u32>,
}

impl WaitQuery {
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.wait_s.unwrap_or(0).min(PATIENCE_MAX_S).into())
    }
}

/// The state of a connect.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Connect {
    #[schema(value_type = id::Connect)]
    id: ConnectId,
    /// Name slug of the app.
    app: String,
    status: ConnectStatus,
    /// The account, once it is `connected`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Account>)]
    account_id: Option<AccountId>,
    /// Why it `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    expires_at: EpochSeconds,
}

/// The state of a connect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConnectStatus {
    Pending,
    Connected,
    Failed,
    Expired,
}

impl From<headwater_platform::ConnectView> for Connect {
    fn from(view: headwater_platform::ConnectView) -> Self {
        let (status, account_id, reason) = match view.status {
            headwater_platform::ConnectStatus::Pending => (ConnectStatus::Pending, None, None),
            headwater_platform::ConnectStatus::Connected(id) => {
                (ConnectStatus::Connected, Some(id), None)
            }
            headwater_platform::ConnectStatus::Failed(reason) => {
                (ConnectStatus::Failed, None, Some(reason))
            }
            headwater_platform::ConnectStatus::Expired => (ConnectStatus::Expired, None, None),
        };
        Self {
            id: view.id,
            app: view.app,
            status,
            account_id,
            reason,
            expires_at: view.expires_at,
        }
    }
}

/// A connected account. Its credentials are never shown.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Account {
    #[schema(value_type = id::Account)]
    id: AccountId,
    #[schema(value_type = id::User)]
    user_id: UserId,
    /// Name slug of the app.
    app: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    health: AccountHealth,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
}

/// Whether an account's credentials are good, as far as the node knows.
#[derive(Debug, Serialize, ToSchema)]
struct AccountHealth {
    status: HealthStatus,
    /// The reason, and the next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The time of that check, Unix time in seconds; null before the first one.
    #[schema(required, value_type = Option<u64>)]
    checked_at: Option<EpochSeconds>,
    /// The time at which the access token expires, Unix time in seconds, if that is known. It is
    /// renewed before if the app gave a refresh token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    expires_at: Option<EpochSeconds>,
    /// The time at which the node renewed the access token last, Unix time in seconds; absent if it has not since
    /// somebody gave the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    renewed_at: Option<EpochSeconds>,
}

/// `healthy`: the app accepted the credentials. `expired`: they have expired and cannot be renewed.
/// `refused`: the app no longer accepts them. `unknown`: they were not checked yet, cannot be checked, or
/// the app does not answer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    Healthy,
    Expired,
    Refused,
    Unknown,
}

impl From<HealthStatus> for headwater_platform::HealthStatus {
    fn from(status: HealthStatus) -> Self {
        match status {
            HealthStatus::Healthy => Self::Healthy,
            HealthStatus::Expired => Self::Expired,
            HealthStatus::Refused => Self::Refused,
            HealthStatus::Unknown => Self::Unknown,
        }
    }
}

impl From<headwater_platform::AccountView> for Account {
    fn from(view: headwater_platform::AccountView) -> Self {
        let headwater_platform::AccountView { account, health } = view;
        Self {
            id: account.id,
            user_id: account.owner.user_id,
            app: account.app,
            name: account.name,
            workspace_id: account.owner.workspace_id,
            health: AccountHealth {
                status: match health.status {
                    headwater_platform::HealthStatus::Healthy => HealthStatus::Healthy,
                    headwater_platform::HealthStatus::Expired => HealthStatus::Expired,
                    headwater_platform::HealthStatus::Refused => HealthStatus::Refused,
                    headwater_platform::HealthStatus::Unknown => HealthStatus::Unknown,
                },
                reason: health.reason,
                checked_at: health.checked_at,
                expires_at: account.credentials.expires_at,
                renewed_at: account.credentials.renewed_at,
            },
            created_at: account.created_at,
            updated_at: account.updated_at,
        }
    }
}

/// An account that was deleted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeletedAccount {
    #[schema(value_type = id::Account)]
    id: AccountId,
    revocation: Revocation,
    /// Why tokens may still be good.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// `revoked`: the app revoked the tokens. `not_supported`: there was nothing that it can revoke.
/// `failed`: it did not revoke them; revoke them at the app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Revocation {
    Revoked,
    NotSupported,
    Failed,
}

impl From<headwater_platform::DeletedAccount> for DeletedAccount {
    fn from(deleted: headwater_platform::DeletedAccount) -> Self {
        let (revocation, reason) = match deleted.revocation {
            headwater_platform::Revocation::Revoked => (Revocation::Revoked, None),
            headwater_platform::Revocation::NotSupported => (Revocation::NotSupported, None),
            headwater_platform::Revocation::Failed(reason) => (Revocation::Failed, Some(reason)),
        };
        Self {
            id: deleted.id,
            revocation,
            reason,
        }
    }
}
