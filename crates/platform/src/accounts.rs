//! Connected accounts: credentials that components get as `$auth`. Encrypted at rest, never shown.
//!
//! Responsible for the `$auth` of an account and for keeping its credentials good. Not for how people create, list and
//! delete accounts (`use_cases::accounts`), or connect them in a browser (`use_cases::connects`).

mod health;
mod locks;
mod provider;
mod renewal;

use std::sync::Arc;

use headwater_model::{
    app::{CLIENT_ID, UID},
    id::AccountId,
};
use headwater_store::Account;
use serde_json::{Map, Value};

use self::locks::RenewalLocks;
pub use self::renewal::Revocation;
pub(crate) use self::{
    health::{health_of, over},
    provider::{Provider, TokenFailure, Verdict, words},
    renewal::{Auth, UsedAccount},
};
use crate::{core::Core, error::PlatformError, secrets::SecretKeys};

/// The accounts of all owners, and their apps.
pub(crate) struct Accounts {
    core: Arc<Core>,
    secret_keys: Arc<SecretKeys>,
    /// HTTP client for apps' token and probe endpoints.
    pub(crate) provider: Provider,
    /// Serializes credential renewal per account.
    locks: RenewalLocks,
}

impl Accounts {
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn new(
        core: Arc<Core>,
        secret_keys: Arc<SecretKeys>,
    ) -> Result<Self, PlatformError> {
        let provider = Provider::new(&core.config.deliveries)?;
        Ok(Self {
            core,
            secret_keys,
            provider,
            locks: RenewalLocks::default(),
        })
    }

    /// Forgets an account that is gone.
    pub(crate) fn forget(&self, id: &AccountId) {
        self.locks.forget(id);
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
        self.secret_keys.seal(&self.core.env, id.as_str(), &text)
    }
}
