//! Credentials that stay good: OAuth 2 tokens renewed before they end or when an app takes them no more, and given
//! back in the end.
//!
//! One renewal at a time per account; all that wait get its result. New tokens are in the store before
//! anybody uses them: apps that rotate refresh tokens take the former one no more. So a renewal that
//! has begun continues to its end, even if its caller goes away.

use std::{sync::Arc, time::Duration};

use headwater_model::{
    app::{ACCESS_TOKEN, AuthType, OAuth2, REFRESH_TOKEN},
    id::AccountId,
    time::EpochSeconds,
};
use headwater_store::{Account, Credentials, Health, HealthStatus, Renewal};
use serde_json::{Map, Value};

use super::{
    Accounts, UsedAccount,
    locks::RenewalState,
    provider::{self, Grant, TokenFailure, Verdict},
};
use crate::error::PlatformError;

/// The time before its end at which a token is renewed; of a short life only the last quarter.
const MARGIN: Duration = Duration::from_mins(5);
/// A token younger than this is not renewed on suspicion alone.
const SETTLED_AFTER: Duration = Duration::from_mins(1);

/// The result of renewing an account.
pub(super) enum Renewed {
    /// It has credentials that are good.
    Fresh(Account),
    /// The app renews them no more.
    Refused(Account),
    /// The app did not renew them now; why.
    Waiting(Account, String),
}

impl Renewed {
    pub(super) fn account(self) -> Account {
        match self {
            Self::Fresh(account) | Self::Refused(account) | Self::Waiting(account, _) => account,
        }
    }
}

/// Whether an account's tokens were given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// They were.
    Revoked,
    /// There is nothing to give back, or the app takes nothing back.
    NotSupported,
    /// They were not, and may still be good; why.
    Failed(String),
}

impl Accounts {
    /// Whether accounts of the app with these fields can be renewed.
    pub(crate) fn is_renewable(&self, app: &str, fields: &Map<String, Value>) -> bool {
        let app = self.core.config.apps.get(app);
        let is_oauth2 = app.is_some_and(|app| app.auth == AuthType::Oauth2);
        is_oauth2 && fields.get(REFRESH_TOKEN).is_some_and(Value::is_string)
    }

    /// Credentials as the app gave them, sealed.
    pub(crate) fn credentials(
        &self,
        id: &AccountId,
        app: &str,
        fields: &Map<String, Value>,
        expires_in: Option<Duration>,
    ) -> Result<Credentials, PlatformError> {
        let renewable = self.is_renewable(app, fields);
        let expires_at = expires_in.map(|life| self.core.env.now_at() + life);
        let margin = expires_in.map(|life| MARGIN.min(life / 4));
        let renew_at = expires_at
            .zip(margin)
            .map(|(expires_at, margin)| expires_at.minus(margin));
        Ok(Credentials {
            sealed: self.sealed_fields(id, fields)?,
            expires_at,
            renewable,
            renew_at: renew_at.filter(|_| renewable),
            renewed_at: None,
        })
    }

    /// The account with credentials that do not end at once.
    ///
    /// # Errors
    /// `Unreachable` when they have ended and the app does not answer.
    pub(super) async fn fresh_account(
        self: &Arc<Self>,
        account: Account,
    ) -> Result<Account, PlatformError> {
        let now_at = self.core.env.now_at();
        let is_due = |at: Option<EpochSeconds>| at.is_some_and(|at| at <= now_at);
        let refused = account.health.status == HealthStatus::Refused;
        if !is_due(account.credentials.renew_at) || refused {
            return Ok(account);
        }
        let accounts = Arc::clone(self);
        let renewed = self
            .core
            .to_the_end(async move { accounts.renew(account, false).await });
        match renewed.await? {
            Renewed::Fresh(account) | Renewed::Refused(account) => Ok(account),
            Renewed::Waiting(account, reason) if is_due(account.credentials.expires_at) => {
                let (id, app) = (&account.id, &account.app);
                Err(PlatformError::Unreachable(format!(
                    "the token of account `{id}` has expired and `{app}` does not renew it now: {reason}"
                )))
            }
            Renewed::Waiting(account, _) => Ok(account),
        }
    }

    /// Renews the account's credentials, unless somebody has since it was read. Without `insist`, the
    /// app's failure of a moment ago is the answer.
    pub(super) async fn renew(
        self: &Arc<Self>,
        account: Account,
        insist: bool,
    ) -> Result<Renewed, PlatformError> {
        let id = account.id.clone();
        let mut state = self.locks.take(&id).await;
        let renewed = self.renew_locked(&mut state, account, insist).await;
        self.locks.end(&id, state);
        renewed
    }

    async fn renew_locked(
        &self,
        state: &mut RenewalState,
        read: Account,
        insist: bool,
    ) -> Result<Renewed, PlatformError> {
        let gone = || PlatformError::Conflict(format!("account `{}` was deleted", read.id));
        let account = self.core.store.account(&read.id).await?.ok_or_else(gone)?;
        // Somebody may have changed other fields.
        let is_due = account
            .credentials
            .renew_at
            .is_some_and(|at| at <= self.core.env.now_at());
        if account.version != read.version && !is_due {
            return Ok(Renewed::Fresh(account));
        }
        if !insist && account.health.status == HealthStatus::Refused {
            return Ok(Renewed::Refused(account));
        }
        let now_ms = self.core.env.now_ms();
        let failure = state.recent_failure(now_ms).filter(|_| !insist);
        if let Some(reason) = failure {
            return Ok(Renewed::Waiting(account, reason.to_owned()));
        }
        match self.refreshed(&account).await? {
            Ok(grant) => {
                state.succeed();
                self.replace(account, grant).await
            }
            Err(TokenFailure::Ended(reason)) => {
                state.succeed();
                self.refuse(account, &reason).await
            }
            Err(failure) => {
                let reason = failure.reason().to_owned();
                state.fail(now_ms, &reason);
                tracing::warn!(account_id = %account.id, app = account.app, reason, "an account could not be renewed");
                let noted = format!("its token could not be renewed: {reason}");
                let account = self
                    .note(account, HealthStatus::Unknown, Some(noted))
                    .await?;
                Ok(Renewed::Waiting(account, reason))
            }
        }
    }

    async fn refuse(&self, account: Account, reason: &str) -> Result<Renewed, PlatformError> {
        let id = account.id.clone();
        tracing::warn!(account_id = %id, app = account.app, reason, "an account can no longer be renewed");
        let reason = format!("{reason}; connect it again with `headwater accounts reconnect {id}`");
        let version = account.version;
        let refused = self
            .note(account, HealthStatus::Refused, Some(reason))
            .await?;
        // Another node may have used the token first, and has better ones.
        let stored = self.core.store.account(&id).await?;
        Ok(match stored.filter(|stored| stored.version != version) {
            Some(renewed) => Renewed::Fresh(renewed),
            None => Renewed::Refused(refused),
        })
    }

    /// The app's answer to the refresh token; with the former fields.
    async fn refreshed(
        &self,
        account: &Account,
    ) -> Result<Result<Grant, TokenFailure>, PlatformError> {
        let mut fields = self.opened_fields(account)?;
        let app = self.core.config.apps.get(&account.app);
        let Some((oauth2, _)) = app.and_then(|app| app.client()) else {
            let reason = format!(
                "the node has no OAuth 2 client for `{}`; the operator must add one to an apps file",
                account.app
            );
            return Ok(Err(TokenFailure::Rejected(reason)));
        };
        let token = fields.get(REFRESH_TOKEN).and_then(Value::as_str);
        let Some(token) = token else {
            let reason = "there is no refresh token".to_owned();
            return Ok(Err(TokenFailure::Ended(reason)));
        };
        let parameters = [("grant_type", "refresh_token"), ("refresh_token", token)];
        let url = oauth2.renewal_url();
        let granted = self.provider.grant(oauth2, url, &fields, &parameters).await;
        Ok(granted.map(|grant| {
            // An app that gives no other refresh token means the former one to be kept.
            fields.extend(grant.fields);
            Grant { fields, ..grant }
        }))
    }

    /// Writes the new tokens before anybody uses them.
    async fn replace(&self, account: Account, grant: Grant) -> Result<Renewed, PlatformError> {
        let Grant { fields, expires_in } = grant;
        let now_at = self.core.env.now_at();
        let credentials = self.credentials(&account.id, &account.app, &fields, expires_in)?;
        let renewal = Renewal {
            id: account.id.clone(),
            version: account.version,
            credentials: Credentials {
                renewed_at: Some(now_at),
                ..credentials
            },
            health: Health {
                status: HealthStatus::Healthy,
                reason: None,
                checked_at: Some(now_at),
            },
            name: None,
            now_at,
        };
        let written = self.core.store.renew_account(renewal).await?;
        tracing::debug!(account_id = %account.id, app = account.app, written, "an account was renewed");
        let gone = || PlatformError::Conflict(format!("account `{}` was deleted", account.id));
        // If others were written meanwhile, by connecting again, those are the newer ones.
        let stored = self.core.store.account(&account.id).await?;
        Ok(Renewed::Fresh(stored.ok_or_else(gone)?))
    }

    /// Gives an account other values of fields, where null removes one and the others stay, and another name if it gets one.
    /// Waits for a renewal that is under way, whose tokens would be lost otherwise.
    ///
    /// # Errors
    /// `Invalid` for fields that are not those of an app that the node knows, `NotFound`, `Conflict` when the account was
    /// connected again meanwhile.
    pub(crate) async fn change_fields(
        self: &Arc<Self>,
        id: &AccountId,
        given: Map<String, Value>,
        name: Option<String>,
    ) -> Result<Account, PlatformError> {
        let (accounts, id) = (Arc::clone(self), id.clone());
        let changed = async move {
            let mut state = accounts.locks.take(&id).await;
            let changed = accounts.changed(&id, given, name).await;
            if changed.is_ok() {
                state.succeed();
            }
            accounts.locks.end(&id, state);
            changed
        };
        self.core.to_the_end(changed).await
    }

    async fn changed(
        &self,
        id: &AccountId,
        given: Map<String, Value>,
        name: Option<String>,
    ) -> Result<Account, PlatformError> {
        let gone = || PlatformError::not_found("account", id);
        let account = self.core.store.account(id).await?.ok_or_else(gone)?;
        let is_same_token = !given.contains_key(ACCESS_TOKEN);
        let mut fields = self.opened_fields(&account)?;
        for (name, value) in given {
            match value.is_null() {
                true => fields.remove(&name),
                false => fields.insert(name, value),
            };
        }
        if let Some(app) = self.core.config.apps.get(&account.app) {
            app.check_account(&fields).map_err(PlatformError::Invalid)?;
        }
        let now_at = self.core.env.now_at();
        let expires_at = account.credentials.expires_at.filter(|_| is_same_token);
        let expires_in = expires_at.map(|at| at.since(now_at));
        let mut credentials = self.credentials(id, &account.app, &fields, expires_in)?;
        // It may have ended already.
        credentials.expires_at = expires_at;
        credentials.renewed_at = account.credentials.renewed_at.filter(|_| is_same_token);
        let renewal = Renewal {
            id: id.clone(),
            version: account.version,
            credentials,
            health: Health::default(),
            name,
            now_at,
        };
        if !self.core.store.renew_account(renewal).await? {
            let reason =
                format!("account `{id}` was connected again or deleted meanwhile; try again");
            return Err(PlatformError::Conflict(reason));
        }
        self.core.store.account(id).await?.ok_or_else(gone)
    }

    /// Checks the accounts of a run that met a 401. Returns those that have other credentials now, or are known to be
    /// refused.
    pub(crate) async fn recheck(self: &Arc<Self>, used: Vec<UsedAccount>) -> Vec<AccountId> {
        let mut changed = Vec::new();
        for used in used {
            let accounts = Arc::clone(self);
            let id = used.id.clone();
            let rechecked = self
                .core
                .to_the_end(async move { accounts.recheck_one(&used).await });
            match rechecked.await {
                Ok(true) => changed.push(id),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(
                        account_id = %id, %error,
                        "cannot determine whether an account's credentials are valid"
                    );
                }
            }
        }
        changed
    }

    async fn recheck_one(self: &Arc<Self>, used: &UsedAccount) -> Result<bool, PlatformError> {
        let Some(account) = self.core.store.account(&used.id).await? else {
            return Ok(true);
        };
        if account.version != used.version {
            return Ok(true);
        }
        let Some(app) = self.core.config.apps.get(&account.app).cloned() else {
            return Ok(false);
        };
        let verdict = self.probed(&app, &account).await?;
        let renewable = account.credentials.renewable;
        let given_at = account.updated_at;
        let is_new = self.core.env.now_at() < given_at + SETTLED_AFTER;
        // A token that was just given is not the reason, whatever the probe says: its scopes may not suffice for that.
        let is_end = account.health.status == HealthStatus::Healthy || !is_new;
        match verdict {
            Some(Verdict::Bad(reason)) if renewable && is_end => {
                let before = account.version;
                let account = self.renew_and_probe(&app, account, reason, false).await?;
                let is_refused = account.health.status == HealthStatus::Refused;
                Ok(is_refused || account.version != before)
            }
            // Nobody can be asked but the token endpoint, and not for every run of a source that gets 401 for its own reasons.
            None if renewable && !is_new => self.renew_rejected(account).await,
            Some(Verdict::Bad(_)) | None if renewable => Ok(false),
            None => {
                let reason = "a run was answered with 401; check it at the app".to_owned();
                self.note(account, HealthStatus::Unknown, Some(reason))
                    .await?;
                Ok(false)
            }
            verdict => {
                self.note_verdict(account, verdict).await?;
                Ok(false)
            }
        }
    }

    async fn renew_rejected(self: &Arc<Self>, account: Account) -> Result<bool, PlatformError> {
        Ok(match self.renew(account, false).await? {
            Renewed::Fresh(_) | Renewed::Refused(_) => true,
            Renewed::Waiting(..) => false,
        })
    }

    /// Gives an account's tokens back to its app.
    pub(crate) async fn revoke(
        self: &Arc<Self>,
        account: Account,
    ) -> Result<Revocation, PlatformError> {
        let app = self.core.config.apps.get(&account.app).cloned();
        let Some(oauth2) = app.and_then(|app| app.client().map(|(oauth2, _)| oauth2.clone()))
        else {
            return Ok(Revocation::NotSupported);
        };
        let accounts = Arc::clone(self);
        self.core
            .to_the_end(async move { accounts.revoke_locked(&account.id, &oauth2).await })
            .await
    }

    /// After a renewal that may be under way: its tokens are those to be given back.
    async fn revoke_locked(
        &self,
        id: &AccountId,
        oauth2: &OAuth2,
    ) -> Result<Revocation, PlatformError> {
        let state = self.locks.take(id).await;
        let revoked = match self.core.store.account(id).await? {
            Some(account) => self.revoked(&account, oauth2).await,
            None => Ok(Revocation::NotSupported),
        };
        self.locks.end(id, state);
        revoked
    }

    async fn revoked(
        &self,
        account: &Account,
        oauth2: &OAuth2,
    ) -> Result<Revocation, PlatformError> {
        let Some(url) = &oauth2.revocation_url else {
            return Ok(Revocation::NotSupported);
        };
        let fields = match self.opened_fields(account) {
            Ok(fields) => fields,
            // Sealed with a key that is lost. That must not keep the account.
            Err(error) => return Ok(Revocation::Failed(error.to_string())),
        };
        let refresh = fields.get(REFRESH_TOKEN).and_then(Value::as_str);
        let access = provider::access_token(&fields);
        let tokens = [("refresh_token", refresh), ("access_token", access)];
        let mut outcome = Revocation::NotSupported;
        for (kind, token) in tokens {
            let Some(token) = token else { continue };
            let given_back = self.provider.revoke(oauth2, url, &fields, kind, token);
            match given_back.await {
                Ok(()) if outcome == Revocation::NotSupported => outcome = Revocation::Revoked,
                Ok(()) => {}
                Err(reason) => {
                    tracing::warn!(account_id = %account.id, app = account.app, reason, "cannot revoke a token");
                    outcome = Revocation::Failed(reason);
                }
            }
        }
        Ok(outcome)
    }
}
