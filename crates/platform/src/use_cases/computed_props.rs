//! Props that a component computes: async `options` and `additionalProps`
//! (docs/guide/writing-a-component.md, "Computed props").

use std::sync::Arc;

use headwater_engine::Entry;
use headwater_model::prop::{self, ConfiguredProps, PropDefinition};
use headwater_store::{Owner, SavedComponent};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    props::apps,
    use_cases::calls::{Call, CallTarget, KnownProps},
};

/// A request for a page of a prop's options.
#[derive(Debug, Clone, Default)]
pub struct OptionsQuery {
    /// The prop's name.
    pub prop: String,
    /// 0-indexed.
    pub page: u32,
    /// The `context` of the page before.
    pub prev_context: Option<Value>,
    /// The user's search text, for a prop with `useQuery`.
    pub query: Option<String>,
}

/// A page of options.
#[derive(Debug, Clone, PartialEq)]
pub struct PropOptions {
    /// The options of this page.
    pub options: Vec<PropOption>,
    /// To be given for the next page, if the component pages this way.
    pub context: Option<Value>,
    /// Whether it is the only page: the method did not ask which one is wanted.
    pub is_whole: bool,
}

/// One option.
#[derive(Debug, Clone, PartialEq)]
pub struct PropOption {
    /// The label.
    pub label: String,
    /// The value.
    pub value: Value,
}

impl Platform {
    /// A page of a prop's options, computed with the values configured so far.
    ///
    /// # Errors
    /// `Invalid` for a prop that the component does not have, `Component` when its method threw.
    pub async fn prop_options(
        self: &Arc<Self>,
        caller: &Caller,
        target: &CallTarget,
        query: OptionsQuery,
    ) -> Result<PropOptions, PlatformError> {
        if query.prop.is_empty() {
            return Err(PlatformError::invalid(
                "prop",
                "is required: the name of the prop to compute options for",
            ));
        }
        let known = self.known_props(caller, target).await?;
        let description = &known.component.description;
        let declared = description
            .props
            .iter()
            .find(|prop| prop.name == query.prop);
        if declared.is_none() {
            let all = match description.has_additional_props {
                true => self.component_props(caller, target).await?,
                false => description.props.clone(),
            };
            check_has(&all, &query.prop)?;
        }
        let what = format!("computing the options of prop `{}`", query.prop);
        let entry = Entry::Options {
            prop: query.prop,
            page: query.page,
            prev_context: query.prev_context,
            query: query.query,
        };
        let call = |known: KnownProps| Call {
            component: known.component,
            entry: entry.clone(),
            event: RawValue::NULL.to_owned(),
            props: known.values,
            owner: known.owner,
            key_values: Map::new(),
        };
        let configured = known.configured.clone();
        let mut report = self.call(call(known)).await?;
        // Reading options does nothing that must not be done twice.
        if self
            .recheck_accounts(caller, &configured, &report.outcome)
            .await
        {
            let known = self.known_props(caller, target).await?;
            report = self.call(call(known)).await?;
        }
        let returned = report.returned(&what)?;
        Ok(PropOptions::from_returned(returned.unwrap_or_default()))
    }

    /// All props of a component that is configured like this: its own, and those that `additionalProps`
    /// returns now, which replace those that it returned before.
    ///
    /// # Errors
    /// `Component` if `additionalProps` threw or returned something that is not props.
    pub async fn component_props(
        self: &Arc<Self>,
        caller: &Caller,
        target: &CallTarget,
    ) -> Result<Vec<PropDefinition>, PlatformError> {
        let KnownProps {
            component,
            owner,
            values,
            ..
        } = self.known_props(caller, target).await?;
        let additional = self.additional_props(&component, owner, values).await?;
        Ok(prop::merge(&component.description.props, &additional))
    }

    /// The props that `additionalProps` returns for these final values.
    pub(crate) async fn additional_props(
        self: &Arc<Self>,
        component: &SavedComponent,
        owner: Owner,
        props: Map<String, Value>,
    ) -> Result<Vec<PropDefinition>, PlatformError> {
        if !component.description.has_additional_props {
            return Ok(Vec::new());
        }
        let called = self.call(Call {
            component: component.clone(),
            entry: Entry::AdditionalProps,
            event: RawValue::NULL.to_owned(),
            props,
            owner,
            key_values: Map::new(),
        });
        let returned = called.await?.returned("computing `additionalProps`")?;
        let Some(Value::Object(by_name)) = returned else {
            return Ok(Vec::new());
        };
        let definitions = by_name.into_values().map(serde_json::from_value);
        let mut definitions = definitions
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                PlatformError::Internal(format!("a described prop is malformed: {error}"))
            })?;
        self.core.config.apps.free(&mut definitions);
        Ok(definitions)
    }

    /// The props that `additionalProps` adds to a component for configured values that are checked only in part yet.
    /// Its code gets the credentials of the accounts that are named, so that the caller must be allowed to use them.
    pub(crate) async fn additional_props_for(
        self: &Arc<Self>,
        caller: &Caller,
        component: &SavedComponent,
        owner: &Owner,
        values: &ConfiguredProps,
    ) -> Result<Vec<PropDefinition>, PlatformError> {
        if !component.description.has_additional_props {
            return Ok(Vec::new());
        }
        let known = &component.description.props;
        let configured =
            prop::configure_some(known, values).map_err(PlatformError::configured_prop)?;
        self.check_accounts(caller, &apps(known), &configured)
            .await?;
        let props = self.props.finals(known, &configured).await?;
        self.additional_props(component, owner.clone(), props.values)
            .await
    }
}

/// Checks that a prop is among these.
fn check_has(props: &[PropDefinition], wanted: &str) -> Result<(), PlatformError> {
    if props.iter().any(|prop| prop.name == wanted) {
        return Ok(());
    }
    let names: Vec<_> = props.iter().map(|prop| &*prop.name).collect();
    let reason = match names.is_empty() {
        true => format!("the component has no prop `{wanted}`, nor any other"),
        false => format!(
            "the component has no prop `{wanted}`; it has: {}",
            names.join(", ")
        ),
    };
    Err(PlatformError::invalid("prop", reason))
}

impl PropOptions {
    /// An array of values or of `{label, value}`, bare or as `{options, context}`. Anything else has no options.
    fn from_returned(returned: Value) -> Self {
        let mut context = None;
        let mut is_whole = false;
        let mut options = returned;
        if let Value::Object(page) = &mut options {
            is_whole = page.remove("is_whole") == Some(Value::Bool(true));
            context = page.remove("context").filter(|context| !context.is_null());
            options = page.remove("options").unwrap_or_default();
        }
        let Value::Array(options) = options else {
            return Self {
                options: Vec::new(),
                context,
                is_whole,
            };
        };
        Self {
            options: options.into_iter().filter_map(PropOption::of).collect(),
            context,
            is_whole,
        }
    }
}

impl PropOption {
    fn of(mut option: Value) -> Option<Self> {
        if option.is_null() {
            return None;
        }
        let labelled = option.as_object_mut();
        let (label, value) = match labelled.and_then(|pair| Some((pair.remove("value")?, pair))) {
            Some((value, pair)) => (pair.remove("label"), value),
            None => (None, option),
        };
        let label = label.filter(|label| !label.is_null());
        let label = shown(label.as_ref().unwrap_or(&value));
        Some(Self { label, value })
    }
}

fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pairs(returned: Value) -> Vec<(String, Value)> {
        let page = PropOptions::from_returned(returned);
        let options = page.options.into_iter();
        options.map(|option| (option.label, option.value)).collect()
    }

    #[test]
    fn options_are_values_or_labelled_values() {
        let expected = vec![
            ("a".to_owned(), json!("a")),
            ("Bee".to_owned(), json!(2)),
            ("3".to_owned(), json!(3)),
            ("c".to_owned(), json!("c")),
        ];
        let options = json!(["a", {"label": "Bee", "value": 2}, 3, null, {"value": "c"}]);
        assert_eq!(pairs(options.clone()), expected);
        assert_eq!(pairs(json!({ "options": options })), expected);
        assert!(pairs(json!(null)).is_empty());
        assert!(pairs(json!("x")).is_empty());
    }

    #[test]
    fn the_next_pages_context_is_kept() {
        let page = json!({"options": [], "context": {"nextPageToken": "t"}});
        let context = PropOptions::from_returned(page).context;
        assert_eq!(context, Some(json!({"nextPageToken": "t"})));
    }
}
