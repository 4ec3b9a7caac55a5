//! Connecting an account in a browser: a link that opens once, the app's consent or a form, and the account in the end.
//!
//! The holder of a link may connect with it, for the user who asked for it; so it is short-lived and
//! opens once. The answer of an app is taken only from the browser that left for it, once, and at the
//! app's own callback (RFC 9700, 2.1 and 4.4). Not responsible for pages, cookies or status codes.

mod form;
mod oauth2;
mod outcome;
mod sealed;
mod urls;

use std::{sync::Arc, time::Duration};

use headwater_model::{
    app::{AppDefinition, AppField, AuthType},
    error::Invalid,
    id::{AccountId, ConnectId, WorkspaceId},
    time::EpochSeconds,
};
use headwater_store::{Account, Actor, ActorKind, Connect, ConnectEnd, ConnectStep, Owner};
use serde_json::{Map, Value};
use tokio::time::Instant;

pub use self::form::{FieldsForm, LinkOpened};
pub use self::oauth2::Callback;
pub use self::outcome::{ConnectError, Connected};
use self::{sealed::ConnectData, urls::check_urls};
use crate::{
    audit::{Act, AuditAction},
    caller::{Caller, Remote, key_hash},
    error::PlatformError,
    platform::Platform,
    use_cases::audit::nameless,
};

/// The lifetime of a link.
const LIFE: Duration = Duration::from_mins(10);
/// The time that the result of a connect is kept.
const RESULT_RETENTION: Duration = Duration::from_hours(24);
/// The interval at which a wait looks by itself: another node may have ended the connect.
const PERIOD: Duration = Duration::from_secs(2);

/// An account to be connected in a browser.
#[derive(Debug, Clone)]
pub struct NewConnect {
    /// The app's name slug.
    pub app: String,
    /// For people; the app's name when absent.
    pub name: Option<String>,
    /// The known values of the app's fields.
    pub fields: Map<String, Value>,
    /// The workspace it lives in, if any.
    pub workspace_id: Option<WorkspaceId>,
}

/// A link to follow in a browser.
#[derive(Debug, Clone)]
pub struct ConnectLink {
    /// The id under which its result is known.
    pub id: ConnectId,
    /// The link. Anyone who has it can use it, once.
    pub url: String,
    /// Until when, in epoch seconds.
    pub expires_at: EpochSeconds,
}

/// The progress of a connect.
#[derive(Debug, Clone)]
pub struct ConnectView {
    /// Its id.
    pub id: ConnectId,
    /// The app's name slug.
    pub app: String,
    /// Its state.
    pub status: ConnectStatus,
    /// Until when it can be followed, in epoch seconds.
    pub expires_at: EpochSeconds,
}

/// The state of a connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectStatus {
    /// Somebody may still follow it.
    Pending,
    /// There is an account.
    Connected(AccountId),
    /// It ended without one; why.
    Failed(String),
    /// Nobody followed it in time.
    Expired,
}

impl Platform {
    /// Makes a link by which an account is connected in a browser.
    ///
    /// # Errors
    /// `Invalid` for an app that the node does not know, `Conflict` if it has no OAuth 2 client for it.
    pub async fn begin_connect(
        &self,
        caller: &Caller,
        new: NewConnect,
    ) -> Result<ConnectLink, PlatformError> {
        let app = self.connectable(caller, &new.app)?;
        check_known(&app, &new.fields).map_err(PlatformError::Invalid)?;
        let owner = self.owner(caller, new.workspace_id).await?;
        let name = new.name.unwrap_or_else(|| app.slug.clone());
        let act = Act::new(AuditAction::AccountLink, "app", &app.slug).of(&owner);
        let act = act.named(&name);
        let link = self.link(&app, owner, name, None, new.fields).await?;
        self.record(caller, act.with("connect_id", link.id.as_str()))
            .await;
        Ok(link)
    }

    /// Makes a link by which an account gets other credentials. It stays the same account.
    ///
    /// # Errors
    /// `NotFound`, or `Conflict` when the app is not in the catalog any more, or the node has no OAuth
    /// 2 client for it.
    pub async fn begin_reconnect(
        &self,
        caller: &Caller,
        id: &AccountId,
    ) -> Result<ConnectLink, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        let app = self
            .connectable(caller, &account.app)
            .map_err(unconnectable)?;
        // Values that cannot be decrypted, because the key is lost, are entered again.
        let mut known = self.accounts.opened_fields(&account).unwrap_or_default();
        // Fields that identify a shop stay; secret ones are entered again.
        known.retain(|name, _| {
            let field = app.fields.iter().find(|field| field.name == *name);
            field.is_some_and(|field| !field.secret)
        });
        // The user who asked, not the one who created the account: with their membership the link ends.
        let owner = Owner {
            user_id: caller.user_id().clone(),
            ..account.owner
        };
        let act = Act::new(AuditAction::AccountLink, "account", id).of(&owner);
        let act = act.named(&account.name).with("app", app.slug.as_str());
        let link = self
            .link(&app, owner, account.name, Some(account.id), known)
            .await?;
        self.record(caller, act.with("connect_id", link.id.as_str()))
            .await;
        Ok(link)
    }

    fn connectable(
        &self,
        caller: &Caller,
        slug: &str,
    ) -> Result<Arc<AppDefinition>, PlatformError> {
        let Some(app) = self.core.config.apps.get(slug) else {
            let reason = match slug {
                "" => "is required: the app's name slug, such as `github`".to_owned(),
                _ => format!(
                    "`{slug}` is not in the catalog of apps (`headwater apps`, `GET /v1/apps`); add an \
                     account with `headwater accounts add {slug} --field KEY=VALUE` or `POST \
                     /v1/accounts`, or ask the operator to add the app to an apps file"
                ),
            };
            return Err(PlatformError::invalid("app", reason));
        };
        match app.auth {
            AuthType::None => Err(PlatformError::invalid(
                "app",
                format!("`{slug}` needs no credentials, so there is nothing to connect"),
            )),
            AuthType::Oauth2 if app.client().is_none() => {
                Err(PlatformError::Conflict(self.no_client(caller, slug)))
            }
            AuthType::Oauth2 | AuthType::Fields => Ok(Arc::clone(app)),
        }
    }

    /// The next step where the node has no client for an app: the administrator's own, or to ask for it.
    fn no_client(&self, caller: &Caller, slug: &str) -> String {
        let callback = self.callback_url(slug);
        if !caller.identity.user.is_admin {
            return format!(
                "the node has no OAuth 2 client for `{slug}`: ask its administrator to register one at the app, with the callback \
                 {callback}, or add an account with tokens that you have: `headwater accounts add {slug} --field \
                 oauth_access_token=…`"
            );
        }
        let file = self.core.config.apps_folder.join(format!("{slug}.toml"));
        format!(
            "the node has no OAuth 2 client for `{slug}`: register one at the app with the callback {callback}, write its \
             client_id and client_secret to {}, and restart the node:\n\n[{slug}.oauth2]\nclient_id = \"…\"\nclient_secret = \
             \"…\"\n",
            file.display()
        )
    }

    async fn link(
        &self,
        app: &AppDefinition,
        owner: Owner,
        name: String,
        account_id: Option<AccountId>,
        fields: Map<String, Value>,
    ) -> Result<ConnectLink, PlatformError> {
        let id = self.core.env.id(ConnectId::new);
        let token = self.core.env.token();
        let now_at = self.core.env.now_at();
        let connect = Connect {
            sealed: self.seal_data(&id, &ConnectData::new(fields))?,
            id,
            owner,
            app: app.slug.clone(),
            name,
            account_id,
            step: ConnectStep::Linked,
            expires_at: now_at + LIFE,
        };
        let forget_before = now_at.minus(RESULT_RETENTION);
        self.core
            .store
            .begin_connect(connect.clone(), &key_hash(&token), forget_before)
            .await?;
        Ok(ConnectLink {
            id: connect.id,
            url: format!(
                "{}/connect/{}?token={token}",
                self.core.config.public_url, app.slug
            ),
            expires_at: connect.expires_at,
        })
    }

    /// The state of a connect of the caller, at the latest after `patience`, at once when it has ended.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn connect_status(
        &self,
        caller: &Caller,
        id: &ConnectId,
        patience: Duration,
    ) -> Result<ConnectView, PlatformError> {
        let until = Instant::now() + patience;
        loop {
            let ended = self.connect_ended.notified();
            tokio::pin!(ended);
            // From now on an end is not missed.
            ended.as_mut().enable();
            let view = self.connect_view(caller, id).await?;
            let left = until.saturating_duration_since(Instant::now());
            if view.status != ConnectStatus::Pending || left.is_zero() {
                return Ok(view);
            }
            tokio::select! {
                () = ended => {}
                () = tokio::time::sleep(left.min(PERIOD)) => {}
                () = self.core.stopping.cancelled() => return Ok(view),
            }
        }
    }

    async fn connect_view(
        &self,
        caller: &Caller,
        id: &ConnectId,
    ) -> Result<ConnectView, PlatformError> {
        let connect = self.core.store.connect(id).await?;
        let connect = connect.filter(|connect| caller.may_see(&connect.owner));
        let connect = connect.ok_or_else(|| PlatformError::not_found("connect", id))?;
        let is_over = connect.expires_at <= self.core.env.now_at();
        let status = match connect.step {
            ConnectStep::Connected(account_id) => ConnectStatus::Connected(account_id),
            ConnectStep::Failed(reason) => ConnectStatus::Failed(reason),
            ConnectStep::Linked | ConnectStep::Away | ConnectStep::Back if is_over => {
                ConnectStatus::Expired
            }
            ConnectStep::Linked | ConnectStep::Away | ConnectStep::Back => ConnectStatus::Pending,
        };
        Ok(ConnectView {
            id: connect.id,
            app: connect.app,
            status,
            expires_at: connect.expires_at,
        })
    }

    /// The URL to which an app sends its users back.
    pub(crate) fn callback_url(&self, slug: &str) -> String {
        format!("{}/connect/{slug}/callback", self.core.config.public_url)
    }

    /// Ends a connect without an account.
    async fn fail_connect(&self, connect: &Connect, reason: String) -> ConnectError {
        tracing::info!(connect_id = %connect.id, app = connect.app, reason, "an account was not connected");
        let ended = ConnectEnd::Failed(reason.clone());
        let ended = self.core.store.end_connect(&connect.id, ended).await;
        self.connect_ended.notify_waiters();
        match ended {
            Ok(()) => ConnectError::Failed(reason),
            Err(error) => ConnectError::Platform(error.into()),
        }
    }

    /// Ends a connect with the account that these credentials are of.
    async fn finish_connect(
        &self,
        connect: &Connect,
        account: Account,
        from: &Remote,
    ) -> Result<(), ConnectError> {
        let id = account.id.clone();
        let action = match connect.account_id {
            Some(_) => AuditAction::AccountReconnect,
            None => AuditAction::AccountConnect,
        };
        let act = Act::on_account(action, &account);
        let act = act.with("connect_id", connect.id.as_str());
        let ended = ConnectEnd::Connected(Box::new(account));
        let ended = self.core.store.end_connect(&connect.id, ended).await;
        self.connect_ended.notify_waiters();
        ended.map_err(PlatformError::from)?;
        tracing::info!(connect_id = %connect.id, account_id = %id, app = connect.app, "an account was connected");
        if connect.account_id.is_some() {
            self.runners.account_changed(&id);
        }
        let user_id = connect.owner.user_id.clone();
        let user = self.core.store.user(&user_id).await.ok().flatten();
        let actor = Actor {
            username: user.map(|user| user.username),
            user_id: Some(user_id),
            ..nameless(ActorKind::Link)
        };
        self.record_of(actor, from, act).await;
        Ok(())
    }
}

/// The same for a caller that names no app: no parameter of theirs is wrong.
fn unconnectable(error: PlatformError) -> PlatformError {
    if let PlatformError::Invalid(invalid) = error {
        return PlatformError::Conflict(invalid.reason);
    }
    error
}

/// Checks fields that are known before the user has entered any.
fn check_known(app: &AppDefinition, fields: &Map<String, Value>) -> Result<(), Invalid> {
    let mut with_all = fields.clone();
    for field in app.missing(fields) {
        with_all.insert(field.name.clone(), Value::from(any_value(field)));
    }
    app.check_entered(&with_all, false)?;
    check_urls(app, &with_all)
}

/// A value that a field takes.
fn any_value(field: &AppField) -> &str {
    match field.options.first() {
        _ if field.port => "1",
        Some(option) => &option.value,
        None => "-",
    }
}
