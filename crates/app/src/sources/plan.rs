//! From a component and configured values to what a source is made of.

use headwater_model::{
    component::ComponentType,
    error::Invalid,
    prop::{self, ConfiguredProps, PropKind},
};
use headwater_store::{Endpoint, SavedComponent, Source, SourceSpec, Timer};
use serde_json::Value;

use crate::{access::Caller, app::App, error::AppError, secrets};

impl App {
    /// Checks that the component can be a source.
    pub(super) fn check_source(component: &SavedComponent) -> Result<(), AppError> {
        if component.description.component_type == ComponentType::Source {
            return Ok(());
        }
        let reason = format!(
            "`{}` is an action, which cannot be deployed as a source; actions are steps of workflows",
            component.description.name
        );
        Err(AppError::invalid("component_id", reason))
    }

    /// Checks the values and makes the source's new spec. Endpoint tokens of a former version stay.
    pub(super) async fn plan(
        &self,
        caller: &Caller,
        component: &SavedComponent,
        name: &str,
        values: &ConfiguredProps,
        former: Option<&Source>,
    ) -> Result<SourceSpec, AppError> {
        let description = &component.description;
        let in_props =
            |invalid: Invalid| AppError::InvalidProps(invalid.within("configured_props"));
        if let Some((prop, _)) = values.iter().find(|(_, value)| secrets::is_sealed(value)) {
            return Err(in_props(Invalid::new(
                prop,
                "an object of `$sealed` alone is the platform's own",
            )));
        }
        let mut configured =
            prop::configure(&description.props, values, description.has_additional_props)
                .map_err(in_props)?;
        let apps: Vec<_> = description
            .props
            .iter()
            .filter(|prop| prop.kind() == PropKind::App)
            .map(|prop| (prop.name.clone(), prop.app().unwrap_or_default().to_owned()))
            .collect();
        self.check_accounts(caller, &apps, &configured).await?;
        let mut timers = Vec::new();
        let mut endpoints = Vec::new();
        for prop in &description.props {
            match prop.kind() {
                PropKind::Timer => {
                    let schedule = prop
                        .schedule(configured.get(&prop.name))
                        .map_err(in_props)?;
                    timers.push(Timer {
                        prop: prop.name.clone(),
                        schedule,
                    });
                }
                PropKind::Http => {
                    let known = former.and_then(|source| {
                        source
                            .spec
                            .endpoints
                            .iter()
                            .find(|endpoint| endpoint.prop == prop.name)
                    });
                    let token =
                        known.map_or_else(|| self.env.token(), |endpoint| endpoint.token.clone());
                    endpoints.push(Endpoint {
                        token,
                        prop: prop.name.clone(),
                    });
                }
                _ => {}
            }
        }
        for prop in description.props.iter().filter(|prop| prop.is_secret()) {
            if let Some(value) = configured.get_mut(&prop.name) {
                *value = self.secret_key.seal_prop(&self.env, &prop.name, value)?;
            }
        }
        Ok(SourceSpec {
            component_id: component.id.clone(),
            artifact_hash: component.artifact_hash.clone(),
            name: name.to_owned(),
            configured_props: configured,
            endpoints,
            timers,
            dedupe: description.dedupe,
        })
    }

    /// A source's configured values with secrets opened.
    pub(crate) fn opened_props(
        &self,
        configured: &ConfiguredProps,
    ) -> Result<ConfiguredProps, AppError> {
        let open = |(name, value): (&String, &Value)| {
            self.secret_key
                .open_prop(name, value)
                .map(|value| (name.clone(), value))
        };
        configured.iter().map(open).collect()
    }

    /// The values that an update leads to: given ones replace former ones by prop; former ones of props
    /// that the component no longer has are dropped.
    pub(super) fn merged_props(
        &self,
        former: &Source,
        component: &SavedComponent,
        given: Option<&ConfiguredProps>,
    ) -> Result<ConfiguredProps, AppError> {
        let description = &component.description;
        let is_prop = |name: &str| {
            description.has_additional_props
                || description.props.iter().any(|prop| prop.name == name)
        };
        let mut merged = self.opened_props(&former.spec.configured_props)?;
        merged.retain(|name, _| is_prop(name));
        for (name, value) in given.into_iter().flatten() {
            merged.insert(name.clone(), value.clone());
        }
        Ok(merged)
    }
}
