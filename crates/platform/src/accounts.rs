//! Connected accounts: credentials that components get as `$auth`. Encrypted at rest, never shown.
//!
//! Responsible for the `$auth` of an account and for keeping its credentials good. Not for how people create, list and
//! delete accounts (`use_cases::accounts`), or connect them in a browser (`use_cases::connects`).

mod auth;
mod health;
mod locks;
mod provider;
mod renewal;

use std::sync::Arc;

use headwater_model::id::AccountId;
use headwater_store::{Account, Sealed};
use serde_json::{Map, Value};

use self::locks::RenewalLocks;
pub use self::renewal::Revocation;
pub(crate) use self::{
    health::{expired_text, health_of},
    provider::{Provider, TokenFailure, Verdict, error_text},
};
use crate::{core::Core, error::PlatformError, secrets::SecretKeys};

/// An account with the credentials that were used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsedAccount {
    pub(crate) id: AccountId,
    pub(crate) version: u64,
}

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

    /// The fields by which an account is known to its app.
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
    ) -> Result<Sealed, PlatformError> {
        let text = serde_json::to_vec(fields).map_err(|error| {
            PlatformError::Internal(format!("fields cannot be written: {error}"))
        })?;
        self.secret_keys.seal(&self.core.env, id.as_str(), &text)
    }
}
