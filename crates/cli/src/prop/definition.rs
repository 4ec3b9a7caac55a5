//! A prop's definition as the API shows it, and which of its kinds the command line treats apart.

use anyhow::{Context as _, Result};
use headwater_model::error::Invalid;
use headwater_model::prop::{self, ConfiguredProps, InputType, PropKind};
use serde::Deserialize;
use serde_json::{Value, json};

/// The platform's own idea of a prop, of which the command line knows more: how it is asked for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct PropDefinition(prop::PropDefinition);

/// The type of a value; the element type for arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    App,
    Boolean,
    Integer,
    String,
    Object,
    Any,
    Timer,
    /// The platform provides it: HTTP endpoints, the key-value store, alerts.
    Provided,
}

/// The origin of the values that can be picked.
#[derive(Debug, PartialEq)]
pub(super) enum Options {
    /// Any value will do.
    None,
    Listed(Vec<PropOption>),
    /// A method of the component gives them.
    Computed,
}

/// An option: its label and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PropOption {
    pub(super) label: String,
    pub(super) value: Value,
}

/// Reads `configurable_props` of a component.
pub(crate) fn definitions(component: &Value) -> Result<Vec<PropDefinition>> {
    let props = component.get("configurable_props").cloned();
    let props = props.unwrap_or_else(|| Value::Array(Vec::new()));
    serde_json::from_value(props).context("cannot read the component's props in the node's answer")
}

impl PropDefinition {
    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    /// The type as written.
    pub(super) fn kind(&self) -> &str {
        &self.0.type_name
    }

    pub(super) fn element(&self) -> Element {
        match self.0.kind() {
            PropKind::App => Element::App,
            PropKind::Timer => Element::Timer,
            PropKind::HttpRequest => Element::Object,
            // The name of something that is stored elsewhere.
            PropKind::DataStore => Element::String,
            PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => {
                Element::Provided
            }
            PropKind::Input => match self.0.input_type() {
                Some(InputType::Boolean) => Element::Boolean,
                Some(InputType::Integer) => Element::Integer,
                Some(InputType::Object) => Element::Object,
                Some(InputType::Any) => Element::Any,
                Some(InputType::String | InputType::Sql | InputType::Unknown) | None => {
                    Element::String
                }
            },
        }
    }

    pub(super) fn is_array(&self) -> bool {
        self.0.is_list()
    }

    pub(super) fn is_data_store(&self) -> bool {
        self.0.kind() == PropKind::DataStore
    }

    pub(super) fn is_secret(&self) -> bool {
        self.0.is_secret()
    }

    /// Whether other props may depend on this one's value.
    pub(super) fn reloads_props(&self) -> bool {
        self.0.flag("reloadProps")
    }

    /// Whether its options are searched by the typed text.
    pub(super) fn is_searched(&self) -> bool {
        self.0.flag("useQuery")
    }

    pub(super) fn has_default(&self) -> bool {
        self.0.default_value().is_some()
    }

    pub(super) fn app(&self) -> Option<&str> {
        self.0.app()
    }

    /// Whether a deploy without a value cannot work, as the node will judge.
    pub(super) fn needs_value(&self) -> bool {
        self.0.is_required()
    }

    /// The text of an `alert`.
    pub(super) fn alert(&self) -> Option<&str> {
        let is_shown = self.kind() == "alert" && !self.0.flag("hidden");
        is_shown.then(|| self.text("content")).flatten()
    }

    pub(super) fn description(&self) -> Option<&str> {
        self.text("description")
    }

    /// Name, type, whether a value is required, and label, for a table.
    pub(crate) fn row(&self) -> Vec<String> {
        let required = if self.needs_value() { "yes" } else { "no" };
        let label = self.text("label").unwrap_or_default();
        [self.name(), self.kind(), required, label]
            .map(str::to_owned)
            .into()
    }

    pub(super) fn title(&self) -> &str {
        self.text("label").unwrap_or(self.name())
    }

    pub(super) fn options(&self) -> Options {
        match self.0.attributes.get("options").and_then(Value::as_array) {
            Some(options) if !options.is_empty() => {
                Options::Listed(options.iter().map(PropOption::new).collect())
            }
            _ if self.0.flag("has_options") => Options::Computed,
            _ => Options::None,
        }
    }

    /// A picked option as it is configured: with its label where the component wants to have that too.
    pub(super) fn picked(&self, option: PropOption) -> Value {
        match self.0.flag("withLabel") {
            true => json!({"__lv": {"label": option.label, "value": option.value}}),
            false => option.value,
        }
    }

    /// Whether the node would take the value.
    pub(super) fn check(&self, value: &Value) -> Result<(), Invalid> {
        let values: ConfiguredProps = [(self.name().to_owned(), value.clone())]
            .into_iter()
            .collect();
        prop::configure_some(std::slice::from_ref(&self.0), &values).map(drop)
    }

    fn text(&self, attribute: &str) -> Option<&str> {
        let text = self.0.attributes.get(attribute)?.as_str()?.trim();
        Some(text).filter(|text| !text.is_empty())
    }
}

impl PropOption {
    pub(super) fn new(option: &Value) -> Self {
        let value = option.get("value").unwrap_or(option).clone();
        let label = option.get("label").and_then(Value::as_str);
        let label = label.map_or_else(|| plain(&value), str::to_owned);
        Self { label, value }
    }
}

/// A value as a person would type it.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(value: Value) -> PropDefinition {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_what_the_person_must_give_needs_a_value() {
        let table = [
            (json!({"name": "a", "type": "string"}), true),
            (json!({"name": "a", "type": "string[]"}), true),
            (json!({"name": "a", "type": "app", "app": "slack"}), true),
            (json!({"name": "a", "type": "data_store"}), true),
            (
                json!({"name": "a", "type": "string", "optional": true}),
                false,
            ),
            (json!({"name": "a", "type": "integer", "default": 0}), false),
            (
                json!({"name": "a", "type": "boolean", "default": false}),
                false,
            ),
            (json!({"name": "a", "type": "$.interface.timer"}), false),
            (json!({"name": "a", "type": "$.interface.http"}), false),
            (json!({"name": "a", "type": "$.service.db"}), false),
            (json!({"name": "a", "type": "alert"}), false),
            (
                json!({"name": "a", "type": "string", "hidden": true}),
                false,
            ),
            (
                json!({"name": "a", "type": "string", "disabled": true}),
                false,
            ),
        ];
        for (value, needed) in table {
            assert_eq!(definition(value.clone()).needs_value(), needed, "{value}");
        }
    }

    #[test]
    fn a_default_stands_for_a_value_only_where_the_node_takes_it_as_one() {
        let table = [
            (
                json!({"name": "a", "type": "http_request", "default": {"method": "POST"}}),
                true,
            ),
            (
                json!({"name": "a", "type": "http_request", "default": {"url": "https://a.example"}}),
                false,
            ),
            (
                json!({"name": "a", "type": "app", "app": "slack", "default": "apn_1"}),
                true,
            ),
        ];
        for (value, needed) in table {
            assert_eq!(definition(value.clone()).needs_value(), needed, "{value}");
        }
    }

    #[test]
    fn only_what_is_entered_has_lists() {
        let table = [
            ("string[]", Element::String, true),
            ("integer[]", Element::Integer, true),
            ("strng[]", Element::String, true),
            ("app[]", Element::String, true),
            ("http_request[]", Element::String, true),
            ("$.interface.timer[]", Element::Provided, false),
            ("$.service.db", Element::Provided, false),
            ("data_store", Element::String, false),
            ("sql", Element::String, false),
        ];
        for (kind, element, is_array) in table {
            let definition = definition(json!({"name": "a", "type": kind}));
            assert_eq!(definition.element(), element, "{kind}");
            assert_eq!(definition.is_array(), is_array, "{kind}");
        }
    }

    #[test]
    fn options_are_strings_or_labelled_values() {
        let prop = definition(json!({
            "name": "a", "type": "string", "options": ["x", {"label": "Y", "value": 2}, 3],
        }));
        let option = |label: &str, value: Value| PropOption {
            label: label.to_owned(),
            value,
        };
        assert_eq!(
            prop.options(),
            Options::Listed(vec![
                option("x", json!("x")),
                option("Y", json!(2)),
                option("3", json!(3)),
            ])
        );
        let computed = definition(json!({"name": "a", "type": "string", "has_options": true}));
        assert_eq!(computed.options(), Options::Computed);
        let free = definition(json!({"name": "a", "type": "string"}));
        assert_eq!(free.options(), Options::None);
    }

    #[test]
    fn a_pick_keeps_its_label_only_where_the_component_wants_it() {
        let pick = || PropOption {
            label: "Bee".to_owned(),
            value: json!(2),
        };
        let plain = definition(json!({"name": "a", "type": "integer"}));
        assert_eq!(plain.picked(pick()), json!(2));
        let labelled = definition(json!({"name": "a", "type": "integer", "withLabel": true}));
        let value = labelled.picked(pick());
        assert_eq!(value, json!({"__lv": {"label": "Bee", "value": 2}}));
        assert!(labelled.check(&value).is_ok());
    }
}
