//! Connected accounts: credentials that components get as `$auth`. Encrypted at rest, never shown.
//!
//! Responsible for making, listing and deleting them, and for what an app prop gets of one. How they come through a
//! browser is `connects`; how they stay good is `renewal`.

mod health;
mod provider;
mod renewal;
mod turns;

use std::sync::Arc;

use headwater_model::{
    app::{AuthType, CLIENT_ID, UID},
    id::{AccountId, WorkspaceId},
    page::{Page, PageRequest},
    prop::ConfiguredProps,
};
use headwater_store::{Account, Credentials, Health};
use serde_json::{Map, Value};

use self::provider::Grant;
pub use self::{health::AccountView, renewal::Revocation};
pub(crate) use self::{
    health::health_of,
    provider::{TokenFailure, Verdict, words},
};
pub(crate) use self::{
    provider::Provider,
    renewal::{Auth, UsedAccount},
    turns::Turns,
};
use crate::{access::Caller, error::PlatformError, platform::Platform};

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

/// An account that was deleted.
#[derive(Debug, Clone)]
pub struct DeletedAccount {
    /// Its id.
    pub id: AccountId,
    /// Whether its tokens were given back.
    pub revocation: Revocation,
}

impl Platform {
    /// Makes an account.
    ///
    /// # Errors
    /// `Invalid` when the app or the fields are missing, or are not those of an app that the node knows.
    pub async fn create_account(
        &self,
        caller: &Caller,
        new: NewAccount,
    ) -> Result<AccountView, PlatformError> {
        if new.app.trim().is_empty() {
            return Err(PlatformError::invalid(
                "app",
                "is required: the app's name slug, such as `postgresql`",
            ));
        }
        let known = self.config.apps.get(&new.app);
        if new.fields.is_empty() && known.is_none_or(|app| app.auth != AuthType::None) {
            return Err(PlatformError::invalid(
                "fields",
                "is required: the credentials, such as {\"api_key\": \"…\"}",
            ));
        }
        if let Some(app) = known {
            app.check_account(&new.fields)
                .map_err(PlatformError::Invalid)?;
        }
        let owner = self.owner(caller, new.workspace_id).await?;
        let id = self.env.id(AccountId::new);
        let now_at = self.env.now_at();
        let account = Account {
            credentials: Credentials {
                renewable: self.is_renewable(&new.app, &new.fields),
                sealed: self.sealed_fields(&id, &new.fields)?,
                expires_at: None,
                renew_at: None,
            },
            version: 1,
            health: Health::default(),
            id,
            owner,
            name: new.name.unwrap_or_else(|| new.app.clone()),
            app: new.app,
            created_at: now_at,
            updated_at: now_at,
        };
        self.store.create_account(account.clone()).await?;
        Ok(AccountView::new(account, now_at))
    }

    /// The caller's accounts, in creation order, or those of a workspace.
    pub async fn accounts(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<AccountId>,
    ) -> Result<Page<AccountView>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let page = self.store.accounts(&owner, page).await?;
        let now_at = self.env.now_at();
        let items = page.items.into_iter();
        Ok(Page {
            total_count: page.total_count,
            items: items
                .map(|account| AccountView::new(account, now_at))
                .collect(),
        })
    }

    /// One account.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn account(
        &self,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<AccountView, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        Ok(AccountView::new(account, self.env.now_at()))
    }

    /// Gives an account's tokens back, if the app takes them, and deletes it whatever comes of that. Sources that use it
    /// fail from their next start on, and say so.
    pub async fn delete_account(
        self: &Arc<Self>,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<DeletedAccount, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        let revocation = self.revoke(account).await?;
        self.store.delete_account(id).await?;
        self.turns.forget(id);
        self.runners.account_changed(id);
        Ok(DeletedAccount {
            id: id.clone(),
            revocation,
        })
    }

    /// An account that the caller may use.
    pub(crate) async fn visible_account(
        &self,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<Account, PlatformError> {
        let account = self
            .store
            .account(id)
            .await?
            .filter(|account| caller.may_see(&account.owner));
        account.ok_or_else(|| PlatformError::not_found("account", id))
    }

    /// The `$auth` of the account that an app prop is configured with, renewed if it is about to end.
    ///
    /// # Errors
    /// `Conflict` when no run can succeed with it: it is gone, or the app takes it no more. `Unreachable` when it has
    /// ended and the app does not answer.
    pub(crate) async fn auth(
        self: &Arc<Self>,
        prop: &str,
        configured: &Value,
    ) -> Result<Auth, PlatformError> {
        let missing = |id: &str| {
            PlatformError::Conflict(format!(
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
        let account = self.fresh_account(account).await?;
        if let Some(reason) = health::refusal(&account, self.env.now_at()) {
            return Err(PlatformError::Conflict(format!("prop `{prop}`: {reason}")));
        }
        let mut fields = self.opened_fields(&account)?;
        let of_client = self.config.apps.get(&account.app);
        if let Some((_, client_id)) = of_client.and_then(|app| app.client()) {
            fields
                .entry(CLIENT_ID)
                .or_insert_with(|| Value::from(client_id));
        }
        fields
            .entry(UID)
            .or_insert_with(|| Value::from(account.id.as_str()));
        let ends_at = account.credentials.expires_at;
        Ok(Auth {
            fields,
            renew_at: account.credentials.renew_at.or(ends_at),
            used: UsedAccount {
                id: account.id,
                version: account.version,
            },
        })
    }

    /// What an account's app knows it by.
    pub(crate) fn opened_fields(
        &self,
        account: &Account,
    ) -> Result<Map<String, Value>, PlatformError> {
        let id = account.id.as_str();
        let plain = self.secret_keys.open(id, &account.credentials.sealed)?;
        serde_json::from_slice(&plain).map_err(|_| {
            PlatformError::Internal(format!("the fields of account `{id}` are malformed"))
        })
    }

    pub(crate) fn sealed_fields(
        &self,
        id: &AccountId,
        fields: &Map<String, Value>,
    ) -> Result<Vec<u8>, PlatformError> {
        let text = serde_json::to_vec(fields).map_err(|error| {
            PlatformError::Internal(format!("fields cannot be written: {error}"))
        })?;
        self.secret_keys.seal(&self.env, id.as_str(), &text)
    }

    /// Checks that every configured app prop names an account of that app which the caller may use.
    pub(crate) async fn check_accounts(
        &self,
        caller: &Caller,
        apps: &[(String, String)],
        configured: &ConfiguredProps,
    ) -> Result<(), PlatformError> {
        for (prop, app) in apps {
            let Some(id) = configured
                .get(prop)
                .and_then(|value| value["authProvisionId"].as_str())
            else {
                continue;
            };
            let wrong = |reason: String| {
                PlatformError::InvalidProps(
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
