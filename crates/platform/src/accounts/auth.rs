//! The `$auth` of an app prop.

use std::sync::Arc;

use headwater_model::{
    app::{CLIENT_ID, UID},
    id::AccountId,
    time::EpochSeconds,
};
use serde_json::{Map, Value};

use super::{Accounts, UsedAccount, health};
use crate::error::PlatformError;

/// An account as an app prop gets it.
pub(crate) struct Auth {
    pub(crate) fields: Map<String, Value>,
    /// From when on it must be read again, in epoch seconds.
    pub(crate) renew_at: Option<EpochSeconds>,
    pub(crate) used: UsedAccount,
}

impl Accounts {
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
                "prop `{prop}`: account `{id}` was deleted; add another with `headwater accounts add` \
                 and update the source"
            ))
        };
        let text = configured
            .get("authProvisionId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let id: AccountId = text.parse().map_err(|_| missing(text))?;
        let account = self
            .core
            .store
            .account(&id)
            .await?
            .ok_or_else(|| missing(text))?;
        let account = self.fresh_account(account).await?;
        if let Some(reason) = health::refusal(&account, self.core.env.now_at()) {
            return Err(PlatformError::Conflict(format!("prop `{prop}`: {reason}")));
        }
        let mut fields = self.opened_fields(&account)?;
        let of_client = self.core.config.apps.get(&account.app);
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
}
