//! Creating, listing, checking and deleting accounts. Their credentials are never shown.

use std::sync::Arc;

use headwater_model::{
    app::{AuthType, is_secret_field},
    id::{AccountId, WorkspaceId},
    limits::PAGE_LIMIT_MAX,
    page::{Page, PageRequest},
    prop::ConfiguredProps,
    time::EpochSeconds,
};
use headwater_store::{Account, Credentials, Health, HealthStatus, ListPlace, Placed};
use serde_json::{Map, Value};

use crate::{
    accounts::{Revocation, expired_text},
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    use_cases::scanned::{PAGES_MAX, Scanned},
};

/// A name is a line.
const NAME_CHARS: usize = 256;

/// An account to be created.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// The app's name slug.
    pub app: String,
    /// For people; the slug when absent.
    pub name: Option<String>,
    /// The fields of `$auth`.
    pub fields: Map<String, Value>,
    /// The workspace it lives in, if any.
    pub workspace_id: Option<WorkspaceId>,
}

/// The accounts to list; a field that is `None` does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountsFilter {
    /// The app's name slug.
    pub app: Option<String>,
    /// The health of their credentials as of now.
    pub health: Option<HealthStatus>,
}

impl AccountsFilter {
    fn takes(&self, view: &AccountView) -> bool {
        self.app.as_ref().is_none_or(|app| *app == view.account.app)
            && self
                .health
                .is_none_or(|health| health == view.health.status)
    }
}

/// A change of an account; at least one of both.
#[derive(Debug, Clone, Default)]
pub struct UpdateAccount {
    /// Its new name.
    pub name: Option<String>,
    /// Values by field; null removes one.
    pub fields: Option<Map<String, Value>>,
}

/// The stored fields of an account.
#[derive(Debug, Clone)]
pub struct AccountFields {
    /// The values of those that are no secrets.
    pub shown: Map<String, Value>,
    /// The names of secrets.
    pub secrets: Vec<String>,
}

/// An account that was deleted.
#[derive(Debug, Clone)]
pub struct DeletedAccount {
    /// Its id.
    pub id: AccountId,
    /// Whether its tokens were given back.
    pub revocation: Revocation,
}

/// An account as it is shown: without its credentials, with their health as of now.
#[derive(Debug, Clone)]
pub struct AccountView {
    /// The record; nothing in it can be read.
    pub account: Account,
    /// Whether the credentials are good.
    pub health: Health,
}

impl AccountView {
    pub(crate) fn new(account: Account, now_at: EpochSeconds) -> Self {
        let ended_at = account.credentials.expires_at.filter(|at| *at <= now_at);
        let is_over = ended_at.is_some() && !account.credentials.renewable;
        let health = match (is_over, account.health.status) {
            (true, HealthStatus::Unknown | HealthStatus::Healthy) => Health {
                status: HealthStatus::Expired,
                reason: Some(expired_text(&account)),
                checked_at: account.health.checked_at,
            },
            _ => account.health.clone(),
        };
        Self { account, health }
    }
}

/// A name without the space around it.
fn checked_name(name: &str) -> Result<String, PlatformError> {
    let name = name.trim();
    match name.is_empty() || name.chars().count() > NAME_CHARS {
        true => {
            let reason = format!("`name` is required: 1 to {NAME_CHARS} characters");
            Err(PlatformError::invalid("name", reason))
        }
        false => Ok(name.to_owned()),
    }
}

impl Platform {
    /// Creates an account.
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
        let known = self.core.config.apps.get(&new.app);
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
        let id = self.core.env.id(AccountId::new);
        let now_at = self.core.env.now_at();
        let account = Account {
            credentials: Credentials {
                renewable: self.accounts.is_renewable(&new.app, &new.fields),
                sealed: self.accounts.sealed_fields(&id, &new.fields)?,
                expires_at: None,
                renew_at: None,
                renewed_at: None,
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
        self.core.store.create_account(account.clone()).await?;
        self.record(
            caller,
            Act::on_account(AuditAction::AccountCreate, &account),
        )
        .await;
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
        let Page { total_count, items } = self.core.store.accounts(&owner, page).await?;
        let items = self.shown(items);
        Ok(Page { total_count, items })
    }

    /// Those of them that a filter takes. If it leaves some out, the first 1,000 are looked at.
    pub async fn accounts_like(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        filter: &AccountsFilter,
        page: &PageRequest<AccountId>,
    ) -> Result<Scanned<AccountView>, PlatformError> {
        if *filter == AccountsFilter::default() {
            let page = self.accounts(caller, workspace_id, page).await?;
            let is_whole = true;
            return Ok(Scanned { page, is_whole });
        }
        let mut found = Vec::new();
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        for _ in 0..PAGES_MAX {
            let Some(part) = next else { break };
            let items = self
                .accounts(caller, workspace_id.clone(), &part)
                .await?
                .items;
            next = part.behind(&items, |view| view.account.id.clone());
            found.extend(items.into_iter().filter(|view| filter.takes(view)));
        }
        let is_whole = next.is_none();
        Ok(Scanned::of(found, |view| &view.account.id, page, is_whole))
    }

    /// The same, with those first that need somebody: refused ones, then expired ones.
    pub async fn accounts_by_urgency(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        filter: &AccountsFilter,
        page: &PageRequest<ListPlace>,
    ) -> Result<Scanned<Placed<AccountView>>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let now_at = self.core.env.now_at();
        let read = async |page: &PageRequest<ListPlace>| {
            let store = &self.core.store;
            let found = store.accounts_by_urgency(&owner, now_at, page).await?;
            let view = |account| AccountView::new(account, now_at);
            Ok::<_, PlatformError>(Placed::map_page(found, view))
        };
        if *filter == AccountsFilter::default() {
            let page = read(page).await?;
            let is_whole = true;
            return Ok(Scanned { page, is_whole });
        }
        let mut found = Vec::new();
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        for _ in 0..PAGES_MAX {
            let Some(part) = next else { break };
            let items = read(&part).await?.items;
            next = part.behind(&items, |placed| placed.place.clone());
            found.extend(
                items
                    .into_iter()
                    .filter(|placed| filter.takes(&placed.item)),
            );
        }
        let is_whole = next.is_none();
        Ok(Scanned::of(found, |placed| &placed.place, page, is_whole))
    }

    fn shown(&self, accounts: Vec<Account>) -> Vec<AccountView> {
        let now_at = self.core.env.now_at();
        let accounts = accounts.into_iter();
        accounts
            .map(|account| AccountView::new(account, now_at))
            .collect()
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
        Ok(AccountView::new(account, self.core.env.now_at()))
    }

    /// Changes an account, all or nothing: its name, and values of fields, where null removes one and the others stay, which
    /// is a reconnection without a browser. Sources choose accounts by id, so nothing else changes.
    ///
    /// # Errors
    /// `Invalid` for a name, or for fields that are not those of an app that the node knows, `NotFound`, `Conflict` when the
    /// account was connected again meanwhile.
    pub async fn update_account(
        &self,
        caller: &Caller,
        id: &AccountId,
        update: UpdateAccount,
    ) -> Result<AccountView, PlatformError> {
        let former = self.visible_account(caller, id).await?;
        let name = match (update.name, &update.fields) {
            (None, Some(_)) => None,
            (name, _) => Some(checked_name(&name.unwrap_or_default())?),
        };
        let account = match (update.fields, &name) {
            (Some(fields), _) => self.change_fields(caller, id, fields, name.clone()).await?,
            (None, name) => {
                let name = name.clone().unwrap_or_default();
                let now_at = self.core.env.now_at();
                let renamed = self.core.store.rename_account(id, name, now_at).await?;
                renamed.ok_or_else(|| PlatformError::not_found("account", id))?
            }
        };
        if name.is_some() {
            let act = Act::on_account(AuditAction::AccountRename, &account);
            self.record(caller, act.with("former_name", former.name))
                .await;
        }
        Ok(AccountView::new(account, self.core.env.now_at()))
    }

    /// The stored fields of an account, as a form that changes them shows them. None if they cannot be decrypted, because
    /// the key is lost.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn account_fields(
        &self,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<Option<AccountFields>, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        let Ok(fields) = self.accounts.opened_fields(&account) else {
            return Ok(None);
        };
        let app = self.core.config.apps.get(&account.app);
        let (secrets, shown): (Map<_, _>, Map<_, _>) = fields
            .into_iter()
            .partition(|(name, _)| is_secret_field(app.map(|app| &**app), name));
        Ok(Some(AccountFields {
            shown,
            secrets: secrets.into_iter().map(|(name, _)| name).collect(),
        }))
    }

    async fn change_fields(
        &self,
        caller: &Caller,
        id: &AccountId,
        fields: Map<String, Value>,
        name: Option<String>,
    ) -> Result<Account, PlatformError> {
        if fields.is_empty() {
            return Err(PlatformError::invalid(
                "fields",
                "is empty: give the fields that change, such as {\"api_key\": \"…\"}",
            ));
        }
        let names: Vec<String> = fields.keys().cloned().collect();
        let account = self.accounts.change_fields(id, fields, name).await?;
        self.runners.account_changed(id);
        let act = Act::on_account(AuditAction::AccountReconnect, &account);
        self.record(caller, act.with("fields", names)).await;
        Ok(account)
    }

    /// Asks the app now whether the account's credentials are good; renews them if that is the way to find out.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn check_account(
        self: &Arc<Self>,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<AccountView, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        let before = account.version;
        let accounts = Arc::clone(&self.accounts);
        let account = self
            .core
            .to_the_end(async move { accounts.find_health(account).await })
            .await?;
        if account.version != before {
            self.runners.account_changed(id);
        }
        self.record(caller, Act::on_account(AuditAction::AccountCheck, &account))
            .await;
        Ok(AccountView::new(account, self.core.env.now_at()))
    }

    /// Gives an account's tokens back, if the app takes them, and deletes it whatever comes of that. Sources that use it
    /// fail from their next start on, and say so.
    pub async fn delete_account(
        self: &Arc<Self>,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<DeletedAccount, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        let act = Act::on_account(AuditAction::AccountDelete, &account);
        let revocation = self.accounts.revoke(account).await?;
        self.core.store.delete_account(id).await?;
        self.accounts.forget(id);
        self.runners.account_changed(id);
        self.record(caller, act).await;
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
            .core
            .store
            .account(id)
            .await?
            .filter(|account| caller.may_see(&account.owner));
        account.ok_or_else(|| PlatformError::not_found("account", id))
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
                .map_err(|error| match matches!(error, PlatformError::NotFound { .. }) {
                    true => wrong(format!(
                        "there is no account `{id}`; connect one of `{app}` (`headwater accounts connect {app}`, or `accounts \
                         add`), and name its id"
                    )),
                    false => wrong(error.to_string()),
                })?;
            if account.app != *app {
                return Err(wrong(format!(
                    "account `{id}` is for `{}`, but the prop needs an account of `{app}`",
                    account.app
                )));
            }
        }
        Ok(())
    }
}
