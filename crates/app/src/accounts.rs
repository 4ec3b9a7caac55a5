//! Connected accounts: credentials that components get as `$auth`. Encrypted at rest, never shown.

use headwater_model::{
    id::{AccountId, WorkspaceId},
    page::{Page, PageRequest},
    prop::ConfiguredProps,
};
use headwater_store::Account;
use serde_json::{Map, Value};

use crate::{access::Caller, app::App, error::AppError};

/// An account to be made.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// The app's name slug.
    pub app: String,
    /// For people; the slug when absent.
    pub name: Option<String>,
    /// What `$auth` will hold.
    pub fields: Map<String, Value>,
    /// The workspace it lives in, if any.
    pub workspace_id: Option<WorkspaceId>,
}

impl App {
    /// Makes an account.
    ///
    /// # Errors
    /// `Invalid` when the app or the fields are missing.
    pub async fn create_account(
        &self,
        caller: &Caller,
        new: NewAccount,
    ) -> Result<Account, AppError> {
        if new.app.trim().is_empty() {
            return Err(AppError::invalid(
                "app",
                "is required: the app's name slug, such as `postgresql`",
            ));
        }
        if new.fields.is_empty() {
            return Err(AppError::invalid(
                "fields",
                "is required: the credentials, such as {\"api_key\": \"…\"}",
            ));
        }
        let owner = self.owner(caller, new.workspace_id).await?;
        let id = self.env.id(AccountId::new);
        let fields = Value::Object(new.fields).to_string();
        let now_at = self.env.now_at();
        let account = Account {
            sealed: self
                .secret_keys
                .seal(&self.env, id.as_str(), fields.as_bytes())?,
            id,
            owner,
            name: new.name.unwrap_or_else(|| new.app.clone()),
            app: new.app,
            created_at: now_at,
            updated_at: now_at,
        };
        self.store.create_account(account.clone()).await?;
        Ok(account)
    }

    /// The caller's accounts, in creation order, or those of a workspace.
    pub async fn accounts(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<AccountId>,
    ) -> Result<Page<Account>, AppError> {
        Ok(self
            .store
            .accounts(&self.owner(caller, workspace_id).await?, page)
            .await?)
    }

    /// Deletes an account. Sources that use it fail from their next start on, and say so.
    pub async fn delete_account(&self, caller: &Caller, id: &AccountId) -> Result<(), AppError> {
        self.visible_account(caller, id).await?;
        self.store.delete_account(id).await?;
        self.runners.reload_all();
        Ok(())
    }

    /// An account that the caller may use.
    pub(crate) async fn visible_account(
        &self,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<Account, AppError> {
        let account = self
            .store
            .account(id)
            .await?
            .filter(|account| caller.may_see(&account.owner));
        account.ok_or_else(|| AppError::not_found("account", id))
    }

    /// The `$auth` of the account that an app prop is configured with.
    pub(crate) async fn auth(&self, prop: &str, configured: &Value) -> Result<Value, AppError> {
        let missing = |id: &str| {
            AppError::Conflict(format!(
                "prop `{prop}`: account `{id}` is gone; connect another with `headwater accounts add` and update the source"
            ))
        };
        let text = configured
            .get("authProvisionId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let id: AccountId = text.parse().map_err(|_| missing(text))?;
        let account = self
            .store
            .account(&id)
            .await?
            .ok_or_else(|| missing(text))?;
        let plain = self
            .secret_keys
            .open(account.id.as_str(), &account.sealed)?;
        let mut fields: Map<String, Value> = serde_json::from_slice(&plain).map_err(|_| {
            AppError::Internal(format!("the fields of account `{id}` are malformed"))
        })?;
        fields
            .entry("oauth_uid")
            .or_insert_with(|| Value::from(account.id.as_str()));
        Ok(Value::Object(fields))
    }

    /// Checks that every configured app prop names an account of that app which the caller may use.
    pub(crate) async fn check_accounts(
        &self,
        caller: &Caller,
        apps: &[(String, String)],
        configured: &ConfiguredProps,
    ) -> Result<(), AppError> {
        for (prop, app) in apps {
            let Some(id) = configured
                .get(prop)
                .and_then(|value| value["authProvisionId"].as_str())
            else {
                continue;
            };
            let wrong = |reason: String| {
                AppError::InvalidProps(
                    headwater_model::error::Invalid::new(prop, reason).within("configured_props"),
                )
            };
            let id: AccountId = id.parse().map_err(|error| wrong(format!("{error}")))?;
            let account = self
                .visible_account(caller, &id)
                .await
                .map_err(|error| wrong(error.to_string()))?;
            if account.app != *app {
                return Err(wrong(format!(
                    "account `{id}` is one of `{}`, but the prop needs `{app}`",
                    account.app
                )));
            }
        }
        Ok(())
    }
}
