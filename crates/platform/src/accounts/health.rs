//! Health of an account's credentials: its display, and the test with the app.

use std::sync::Arc;

use headwater_model::{app::AppDefinition, time::EpochSeconds};
use headwater_store::{Account, Health, HealthStatus};

use super::{Accounts, provider::Verdict, renewal::Renewed};
use crate::error::PlatformError;

/// Why credentials that cannot be renewed are of no use after their end.
pub(crate) fn expired_text(account: &Account) -> String {
    format!(
        "its token has expired and cannot be renewed; connect it again with `headwater accounts reconnect {}`",
        account.id
    )
}

/// The reason why no run can succeed with the account. The finding of a probe alone is not a reason:
/// the app may see it otherwise.
pub(super) fn refusal(account: &Account, now_at: EpochSeconds) -> Option<String> {
    let credentials = &account.credentials;
    let why = match (credentials.renewable, credentials.expires_at) {
        (true, _) if account.health.status == HealthStatus::Refused => {
            let reason = account.health.reason.as_deref();
            let reason = reason.unwrap_or("it was revoked");
            format!("is no longer accepted by `{}`: {reason}", account.app)
        }
        (false, Some(expires_at)) if expires_at <= now_at => {
            format!("has expired: {}", expired_text(account))
        }
        _ => return None,
    };
    Some(format!("account `{}` ({}) {why}", account.id, account.name))
}

impl Accounts {
    /// Asks the app whether the account's credentials are good; renews them if that is the way to find out.
    pub(crate) async fn find_health(
        self: &Arc<Self>,
        account: Account,
    ) -> Result<Account, PlatformError> {
        let Some(app) = self.core.config.apps.get(&account.app).cloned() else {
            return self.note_verdict(account, None).await;
        };
        let is_over = |account: &Account| {
            let renew_at = account.credentials.renew_at;
            account.health.status == HealthStatus::Refused
                || renew_at.is_some_and(|at| at <= self.core.env.now_at())
        };
        let renews = account.credentials.renewable && (app.probe.is_none() || is_over(&account));
        if renews {
            let renewed = self.renew(account, true).await?;
            return Ok(renewed.account());
        }
        match self.probed(&app, &account).await? {
            Some(Verdict::Bad(reason)) if account.credentials.renewable => {
                self.renew_and_probe(&app, account, reason, true).await
            }
            verdict => self.note_verdict(account, verdict).await,
        }
    }

    /// For a refusal that may be only the access token's end. Whether to `insist` is as with
    /// [`Accounts::renew`].
    pub(super) async fn renew_and_probe(
        self: &Arc<Self>,
        app: &Arc<AppDefinition>,
        account: Account,
        reason: String,
        insist: bool,
    ) -> Result<Account, PlatformError> {
        let account = match self.renew(account, insist).await? {
            Renewed::Fresh(account) => account,
            Renewed::Refused(account) | Renewed::Waiting(account, _) => return Ok(account),
        };
        match self.probed(app, &account).await? {
            // The app has just given the token, and still does not answer: its scopes may not suffice for that.
            Some(Verdict::Bad(_)) => {
                let reason =
                    format!("its token was renewed, but {reason}; its scopes may not suffice");
                self.note(account, HealthStatus::Unknown, Some(reason))
                    .await
            }
            verdict => self.note_verdict(account, verdict).await,
        }
    }

    /// The app's answer; `None` if the definition has no question.
    pub(super) async fn probed(
        &self,
        app: &AppDefinition,
        account: &Account,
    ) -> Result<Option<Verdict>, PlatformError> {
        let Some(probe) = &app.probe else {
            return Ok(None);
        };
        let fields = self.opened_fields(account)?;
        Ok(Some(self.provider.probe(app, probe, &fields).await))
    }

    pub(super) async fn note_verdict(
        &self,
        account: Account,
        verdict: Option<Verdict>,
    ) -> Result<Account, PlatformError> {
        let is_asked = verdict.is_some();
        let (status, reason) = health_of(&account, verdict);
        let checked_at = is_asked.then(|| self.core.env.now_at());
        self.keep(account, status, reason, checked_at).await
    }

    pub(super) async fn note(
        &self,
        account: Account,
        status: HealthStatus,
        reason: Option<String>,
    ) -> Result<Account, PlatformError> {
        let now_at = self.core.env.now_at();
        self.keep(account, status, reason, Some(now_at)).await
    }

    async fn keep(
        &self,
        mut account: Account,
        status: HealthStatus,
        reason: Option<String>,
        checked_at: Option<EpochSeconds>,
    ) -> Result<Account, PlatformError> {
        account.health = Health {
            status,
            reason,
            checked_at,
        };
        self.core
            .store
            .note_health(&account.id, account.version, account.health.clone())
            .await?;
        Ok(account)
    }
}

/// The health of an account after a probe's verdict.
pub(crate) fn health_of(
    account: &Account,
    verdict: Option<Verdict>,
) -> (HealthStatus, Option<String>) {
    match verdict {
        None => {
            let reason = format!(
                "the node has no test for accounts of `{}`; the first run of a source that uses it shows whether they are good",
                account.app
            );
            (HealthStatus::Unknown, Some(reason))
        }
        Some(Verdict::Good(_)) => (HealthStatus::Healthy, None),
        Some(Verdict::Unknown(reason)) => (HealthStatus::Unknown, Some(reason)),
        Some(Verdict::Bad(reason)) => {
            let reason = format!(
                "{reason}; connect it again with `headwater accounts reconnect {}`",
                account.id
            );
            (HealthStatus::Refused, Some(reason))
        }
    }
}
