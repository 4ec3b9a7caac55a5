//! Connected accounts. Their credentials come in and never go out.

use headwater_model::{
    id::{AccountId, UserId, WorkspaceId},
    prop::ConfiguredProps,
};
use serde::{Deserialize, Serialize};

use crate::extract;

/// `POST /accounts`.
#[derive(Deserialize)]
pub(crate) struct CreateAccount {
    app: Option<String>,
    name: Option<String>,
    #[serde(default, deserialize_with = "extract::object")]
    fields: Option<ConfiguredProps>,
    workspace_id: Option<WorkspaceId>,
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

/// `GET /accounts`, besides pagination: the workspace whose accounts are meant.
#[derive(Debug, Deserialize)]
pub(crate) struct AccountsRequest {
    workspace_id: Option<WorkspaceId>,
    org_id: Option<WorkspaceId>,
}

impl AccountsRequest {
    pub(crate) fn workspace_id(self) -> Option<WorkspaceId> {
        self.workspace_id.or(self.org_id)
    }
}

/// An account.
#[derive(Debug, Serialize)]
pub(crate) struct Account {
    id: AccountId,
    user_id: UserId,
    app: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_id: Option<WorkspaceId>,
    created_at: u64,
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
