//! The values of props: checked as they are configured, and final as a component's code finds them on `this`.
//!
//! Responsible for which props there are to check them against, for secrets opened, defaults filled in, and credentials in
//! place of accounts. Not for whether a value fits (`model::prop`), nor for what only a source has, its endpoints and timers.

use std::sync::Arc;

use headwater_model::prop::{self, ConfiguredProps, PropDefinition, PropKind};
use headwater_store::{Owner, SavedComponent};
use serde_json::{Map, Value, json};

use crate::{
    access::Caller, accounts::UsedAccount, calls, data_stores::STORE_FIELD, error::PlatformError,
    platform::Platform, secrets,
};

/// Values that were checked against every prop that a component has with them.
pub(crate) struct CheckedProps {
    /// What `additionalProps` added for these values.
    pub(crate) dynamic: Vec<PropDefinition>,
    /// The component's own props and those.
    pub(crate) definitions: Vec<PropDefinition>,
    pub(crate) values: ConfiguredProps,
}

/// Values by prop, and whether a run with them can succeed.
pub(crate) struct FinalProps {
    pub(crate) values: Map<String, Value>,
    /// Why no run can succeed, if an account is gone or refused.
    pub(crate) broken: Option<String>,
    /// The accounts whose credentials are among the values.
    pub(crate) accounts: Vec<UsedAccount>,
    /// When the first of those is to be read again, in epoch seconds.
    pub(crate) renew_at: Option<u64>,
}

impl Platform {
    /// Checks the values that a component is wholly configured with. Of those that are not `given` now, what is for no
    /// prop any more is dropped.
    ///
    /// # Errors
    /// `InvalidProps`, or `Component` when `additionalProps` threw.
    pub(crate) async fn checked_props(
        self: &Arc<Self>,
        caller: &Caller,
        component: &SavedComponent,
        owner: &Owner,
        mut values: ConfiguredProps,
        given: Option<&ConfiguredProps>,
    ) -> Result<CheckedProps, PlatformError> {
        secrets::refuse_sealed(&values)?;
        let dynamic = self
            .additional_props_for(caller, component, owner, &values)
            .await?;
        let definitions = prop::merge(&component.description.props, &dynamic);
        let is_prop = |name: &str| definitions.iter().any(|prop| prop.name == name);
        values
            .retain(|name, _| is_prop(name) || given.is_some_and(|given| given.contains_key(name)));
        self.configured(caller, dynamic, definitions, &values).await
    }

    /// Checks the values that an action is to run with. `additionalProps` tells of further props; where it throws, or names
    /// a given value's prop no longer, the value is taken as it is: the action may know it all the same.
    ///
    /// # Errors
    /// `InvalidProps`.
    pub(crate) async fn checked_action_props(
        self: &Arc<Self>,
        caller: &Caller,
        component: &SavedComponent,
        owner: &Owner,
        values: &ConfiguredProps,
    ) -> Result<CheckedProps, PlatformError> {
        secrets::refuse_sealed(values)?;
        let computed = self
            .additional_props_for(caller, component, owner, values)
            .await;
        let dynamic = match computed {
            Ok(dynamic) => dynamic,
            Err(PlatformError::Component { stage, error }) => {
                tracing::info!(component_id = %component.id, stage, error = error.message, "an action runs with the values given");
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        let mut definitions = prop::merge(&component.description.props, &dynamic);
        if component.description.has_additional_props {
            let is_named = |name: &String| definitions.iter().any(|prop| prop.name == **name);
            let unnamed: Vec<_> = values.keys().filter(|name| !is_named(name)).collect();
            definitions.extend(unnamed.into_iter().map(|name| PropDefinition::any(name)));
        }
        self.configured(caller, dynamic, definitions, values).await
    }

    /// Checks values against all definitions, those of `dynamic` among them, and that the caller may use the accounts.
    async fn configured(
        &self,
        caller: &Caller,
        dynamic: Vec<PropDefinition>,
        definitions: Vec<PropDefinition>,
        values: &ConfiguredProps,
    ) -> Result<CheckedProps, PlatformError> {
        let values =
            prop::configure(&definitions, values).map_err(PlatformError::configured_prop)?;
        self.check_accounts(caller, &calls::apps(&definitions), &values)
            .await?;
        Ok(CheckedProps {
            dynamic,
            definitions,
            values,
        })
    }

    /// The final values of these props.
    ///
    /// # Errors
    /// `Internal` when a secret cannot be opened, `Unreachable` when credentials have ended and cannot be renewed now. An
    /// account that is gone or refused breaks the runs, not the reading.
    pub(crate) async fn final_props(
        self: &Arc<Self>,
        definitions: &[PropDefinition],
        configured: &ConfiguredProps,
    ) -> Result<FinalProps, PlatformError> {
        let mut values = self.opened_props(configured)?;
        let (mut accounts, mut renew_at) = (Vec::new(), None::<u64>);
        let mut broken = None;
        for prop in definitions {
            let value = match (prop.kind(), values.get(&prop.name)) {
                (PropKind::App, Some(configured)) => {
                    match self.auth(&prop.name, configured).await {
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
                _ => None,
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

    /// A source's configured values with secrets opened.
    pub(crate) fn opened_props(
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
