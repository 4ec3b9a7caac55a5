//! The final values of props, as a component's code finds them on `this`: secrets opened, defaults filled in,
//! credentials in place of accounts.
//!
//! Not responsible for the props that only a source has, its endpoints and timers.

use std::sync::Arc;

use headwater_model::{
    prop::{ConfiguredProps, PropDefinition, PropKind},
    time::EpochSeconds,
};
use serde_json::{Map, Value, json};

use crate::{
    accounts::{Accounts, UsedAccount},
    data_stores::STORE_FIELD,
    error::PlatformError,
    secrets::SecretKeys,
};

/// Values by prop, and whether a run with them can succeed.
pub(crate) struct FinalProps {
    pub(crate) values: Map<String, Value>,
    /// Why no run can succeed, if an account is gone or refused, or no key opens a secret.
    pub(crate) broken: Option<String>,
    /// The accounts whose credentials are among the values.
    pub(crate) accounts: Vec<UsedAccount>,
    /// The time to read the first of those again, in epoch seconds.
    pub(crate) renew_at: Option<EpochSeconds>,
}

/// App props with the slug of their app.
pub(crate) fn apps(definitions: &[PropDefinition]) -> Vec<(String, String)> {
    let apps = definitions
        .iter()
        .filter(|prop| prop.kind() == PropKind::App);
    apps.map(|prop| (prop.name.clone(), prop.app().unwrap_or_default().to_owned()))
        .collect()
}

/// Makes final values.
pub(crate) struct Props {
    secret_keys: Arc<SecretKeys>,
    accounts: Arc<Accounts>,
}

impl Props {
    pub(crate) fn new(secret_keys: Arc<SecretKeys>, accounts: Arc<Accounts>) -> Self {
        Self {
            secret_keys,
            accounts,
        }
    }

    /// The final values of these props.
    ///
    /// # Errors
    /// `Unreachable` when credentials have ended and cannot be renewed now. An account that is gone or refused, and a secret
    /// that no key opens, break the runs, not the reading.
    pub(crate) async fn finals(
        &self,
        definitions: &[PropDefinition],
        configured: &ConfiguredProps,
    ) -> Result<FinalProps, PlatformError> {
        let (mut values, mut broken) = self.opened_as_far_as_possible(configured)?;
        let (mut accounts, mut renew_at) = (Vec::new(), None::<EpochSeconds>);
        for prop in definitions {
            let value = match (prop.kind(), values.get(&prop.name)) {
                (PropKind::App, Some(configured)) => {
                    match self.accounts.auth(&prop.name, configured).await {
                        Ok(auth) => {
                            accounts.push(auth.used);
                            renew_at = renew_at.into_iter().chain(auth.renew_at).min();
                            Some(json!({ "$auth": auth.fields }))
                        }
                        Err(PlatformError::Conflict(reason)) => {
                            broken = Some(reason);
                            None
                        }
                        Err(error) => return Err(error),
                    }
                }
                (PropKind::Input, Some(configured)) => Some(prop.final_value(configured)),
                (PropKind::Input, None) => prop.default_value().cloned(),
                (PropKind::HttpRequest, configured) => configured
                    .map(|request| prop.final_value(request))
                    .or_else(|| prop.default_value().cloned())
                    .map(|request| json!({ "$http_request": request })),
                (PropKind::DataStore, configured) => configured
                    .or(prop.default_value())
                    .map(|name| json!({ STORE_FIELD: name })),
                (PropKind::App, None)
                // Only a source has endpoints, timers and a key-value store.
                | (PropKind::Http | PropKind::Timer | PropKind::Db, _)
                | (PropKind::Apphook | PropKind::Inert, _) => None,
            };
            if let Some(value) = value {
                values.insert(prop.name.clone(), value);
            }
        }
        Ok(FinalProps {
            values,
            broken,
            accounts,
            renew_at,
        })
    }

    /// A source's configured values with secrets opened, and why one of them cannot be. That one is left out.
    fn opened_as_far_as_possible(
        &self,
        configured: &ConfiguredProps,
    ) -> Result<(ConfiguredProps, Option<String>), PlatformError> {
        let (mut values, mut lost) = (ConfiguredProps::new(), None::<String>);
        for (name, value) in configured {
            match self.secret_keys.open_prop(name, value) {
                Ok(value) => drop(values.insert(name.clone(), value)),
                Err(PlatformError::Conflict(reason)) => lost = lost.or(Some(reason)),
                Err(error) => return Err(error),
            }
        }
        Ok((values, lost))
    }

    /// A source's configured values with secrets opened.
    ///
    /// # Errors
    /// `Conflict` when no key opens one of them.
    pub(crate) fn opened(
        &self,
        configured: &ConfiguredProps,
    ) -> Result<ConfiguredProps, PlatformError> {
        let open = |(name, value): (&String, &Value)| {
            self.secret_keys
                .open_prop(name, value)
                .map(|value| (name.clone(), value))
        };
        configured.iter().map(open).collect()
    }
}
