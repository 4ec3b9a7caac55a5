//! From a component and configured values to the spec of a source.

use std::sync::Arc;

use headwater_model::{
    component::ComponentType,
    endpoint::EndpointToken,
    prop::{ConfiguredProps, PropKind},
};
use headwater_store::{Endpoint, Owner, SavedComponent, Source, SourceSpec, Timer};
use serde_json::Value;

use crate::{
    caller::Caller, error::PlatformError, platform::Platform, secrets,
    use_cases::prop_checks::CheckedProps,
};

/// The planned parts of a source.
pub(super) struct Wanted<'a> {
    pub(super) component: &'a SavedComponent,
    /// The owner of the source.
    pub(super) owner: &'a Owner,
    pub(super) name: &'a str,
    pub(super) is_isolated: bool,
    /// Values by prop, former ones included.
    pub(super) values: ConfiguredProps,
    /// Those that the request gave: one for no prop is an error, while a former one is dropped.
    pub(super) given: Option<&'a ConfiguredProps>,
    pub(super) former: Option<&'a Source>,
}

impl Platform {
    /// Checks that the component can be a source.
    pub(crate) fn check_source(component: &SavedComponent) -> Result<(), PlatformError> {
        if component.description.component_type == ComponentType::Source {
            return Ok(());
        }
        let reason = format!(
            "`{}` is an action, which cannot be deployed as a source; run it with `POST /v1/components/{{id}}/run`",
            component.description.name
        );
        Err(PlatformError::invalid("component_id", reason))
    }

    /// Checks the values and creates the source's new spec. Endpoint tokens of a former version stay.
    pub(super) async fn plan(
        self: &Arc<Self>,
        caller: &Caller,
        wanted: Wanted<'_>,
    ) -> Result<SourceSpec, PlatformError> {
        let Wanted {
            component,
            owner,
            name,
            is_isolated,
            values,
            given,
            former,
        } = wanted;
        let CheckedProps {
            dynamic: dynamic_props,
            definitions,
            values: mut configured,
        } = self
            .checked_props(caller, component, owner, values, given)
            .await?;
        let mut timers = Vec::new();
        let mut endpoints = Vec::new();
        for prop in &definitions {
            match prop.kind() {
                PropKind::Timer => {
                    let schedule = prop
                        .schedule(configured.get(&prop.name))
                        .map_err(PlatformError::configured_prop)?;
                    timers.push(Timer {
                        prop: prop.name.clone(),
                        schedule,
                    });
                }
                PropKind::Http => endpoints.push(self.endpoint(&prop.name, former)),
                PropKind::Input
                | PropKind::App
                | PropKind::Db
                | PropKind::DataStore
                | PropKind::HttpRequest
                | PropKind::Apphook
                | PropKind::Inert => {}
            }
        }
        for prop in definitions.iter().filter(|prop| prop.is_secret()) {
            if let Some(value) = configured.get_mut(&prop.name) {
                *value = self
                    .secret_keys
                    .seal_prop(&self.core.env, &prop.name, value)?;
            }
        }
        Ok(SourceSpec {
            component_id: component.id.clone(),
            artifact_hash: component.artifact_hash.clone(),
            name: name.to_owned(),
            configured_props: configured,
            dynamic_props,
            endpoints,
            timers,
            dedupe: component.description.dedupe,
            is_isolated,
        })
    }

    /// The endpoint of an HTTP interface: that of the former version, or a new one.
    fn endpoint(&self, prop: &str, former: Option<&Source>) -> Endpoint {
        let mut known = former.iter().flat_map(|source| &source.spec.endpoints);
        let known = known.find(|endpoint| endpoint.prop == prop);
        known.cloned().unwrap_or_else(|| Endpoint {
            token: EndpointToken::new(self.core.env.token()),
            prop: prop.to_owned(),
        })
    }

    /// The values that an update leads to: given ones replace former ones by prop. Null takes a value
    /// away, but not a secret's: responses show secrets as null, and a response may be sent back.
    ///
    /// # Errors
    /// `Conflict` when no key opens a secret that stays.
    pub(crate) fn merged_props(
        &self,
        former: &Source,
        given: Option<&ConfiguredProps>,
    ) -> Result<ConfiguredProps, PlatformError> {
        let stored = &former.spec.configured_props;
        let keeps_secret = |name: &String, value: &Value| {
            value.is_null() && stored.get(name).is_some_and(secrets::is_sealed)
        };
        let given: Vec<_> = { given.into_iter().flatten() }
            .filter(|(name, value)| !keeps_secret(name, value))
            .collect();
        // The value of a secret whose key was lost is in nobody's way once there is another one.
        let mut kept = stored.clone();
        kept.retain(|name, _| given.iter().all(|(replaced, _)| name != *replaced));
        let mut merged = self.props.opened(&kept)?;
        merged.extend(
            given
                .into_iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        Ok(merged)
    }
}
