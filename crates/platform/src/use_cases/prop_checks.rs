//! Checking the values that a component is configured with.
//!
//! Responsible for the props that there are to check them against. Not for whether a value fits (`model::prop`).

use std::sync::Arc;

use headwater_model::prop::{self, ConfiguredProps, PropDefinition};
use headwater_store::{Owner, SavedComponent};

use crate::{caller::Caller, error::PlatformError, platform::Platform, props::apps, secrets};

/// Values that were checked against every prop that a component has with them.
pub(crate) struct CheckedProps {
    /// The props that `additionalProps` added for these values.
    pub(crate) dynamic: Vec<PropDefinition>,
    /// The component's own props and those.
    pub(crate) definitions: Vec<PropDefinition>,
    pub(crate) values: ConfiguredProps,
}

impl Platform {
    /// Checks the values that a component is wholly configured with. Of those that are not `given` now,
    /// values without a prop are dropped.
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
        self.check_accounts(caller, &apps(&definitions), &values)
            .await?;
        Ok(CheckedProps {
            dynamic,
            definitions,
            values,
        })
    }
}
