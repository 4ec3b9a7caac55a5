//! Connected accounts. Their credentials come in and never go out.

use headwater_model::{
    id::{AccountId, UserId, WorkspaceId},
    prop::ConfiguredProps,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::id;
use crate::extract;

/// Credentials of an app to keep.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"app": "shop", "fields": {"api_key": "…"}}))]
pub(crate) struct CreateAccount {
    /// Name slug of the app, as app props name it.
    #[schema(required, nullable = false)]
    app: Option<String>,
    /// To tell accounts of one app apart; the app's name by default.
    name: Option<String>,
    /// What components find in `$auth`. Stored encrypted and never shown.
    #[serde(default, deserialize_with = "extract::object")]
    #[schema(value_type = Option<Object>)]
    fields: Option<ConfiguredProps>,
    /// The workspace that it is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl From<CreateAccount> for headwater_app::NewAccount {
    fn from(request: CreateAccount) -> Self {
        Self {
            app: request.app.unwrap_or_default(),
            name: request.name.filter(|name| !name.is_empty()),
            fields: request.fields.unwrap_or_default(),
            workspace_id: request.workspace_id.or(request.org_id),
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
    /// Unix time in seconds.
    created_at: u64,
    /// Unix time in seconds.
    updated_at: u64,
}

impl From<headwater_app::Account> for Account {
    fn from(account: headwater_app::Account) -> Self {
        Self {
            id: account.id,
            user_id: account.owner.user_id,
            app: account.app,
            name: account.name,
            workspace_id: account.owner.workspace_id,
            created_at: account.created_at,
            updated_at: account.updated_at,
        }
    }
}
