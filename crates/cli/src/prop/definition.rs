//! A prop's definition as the API shows it, and which of its kinds the command line treats apart.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PropDefinition {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) label: Option<String>,
    pub(super) description: Option<String>,
    pub(super) optional: bool,
    pub(super) secret: bool,
    pub(super) hidden: bool,
    #[serde(rename = "reloadProps")]
    pub(super) reload_props: bool,
    pub(super) default: Option<Value>,
    /// A list when static; anything else stands for a method.
    pub(super) options: Option<Value>,
    pub(super) app: Option<String>,
}

/// What a value is made of; the element type for arrays.
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

/// A static option: what is shown and what is configured.
#[derive(Debug, PartialEq)]
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
    pub(super) fn element(&self) -> Element {
        match self.kind.strip_suffix("[]").unwrap_or(&self.kind) {
            "app" => Element::App,
            "boolean" => Element::Boolean,
            "integer" => Element::Integer,
            "object" => Element::Object,
            "any" => Element::Any,
            "$.interface.timer" => Element::Timer,
            "alert" | "dir" | "http_request" => Element::Provided,
            kind if kind.starts_with("$.") => Element::Provided,
            // Types that name something stored elsewhere (data_store, sql) are given as text.
            _ => Element::String,
        }
    }

    pub(super) fn is_array(&self) -> bool {
        self.kind.ends_with("[]")
    }

    /// Whether a deploy without a value cannot work. A timer falls back to the platform's interval.
    pub(super) fn needs_value(&self) -> bool {
        !self.optional
            && !self.hidden
            && self.default.is_none()
            && !matches!(self.element(), Element::Timer | Element::Provided)
    }

    /// Name, type, whether a value is required, and label, for a table.
    pub(crate) fn row(&self) -> Vec<String> {
        let required = if self.needs_value() { "yes" } else { "no" };
        let label = self.label.clone().unwrap_or_default();
        vec![
            self.name.clone(),
            self.kind.clone(),
            required.to_owned(),
            label,
        ]
    }

    pub(super) fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    pub(super) fn static_options(&self) -> Vec<PropOption> {
        let options = self.options.as_ref().and_then(Value::as_array);
        options.into_iter().flatten().map(PropOption::new).collect()
    }
}

impl PropOption {
    fn new(option: &Value) -> Self {
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
        ];
        for (value, needed) in table {
            assert_eq!(definition(value.clone()).needs_value(), needed, "{value}");
        }
    }

    #[test]
    fn options_are_strings_or_labelled_values() {
        let prop = definition(json!({
            "name": "a", "type": "string", "options": ["x", {"label": "Y", "value": 2}, 3],
        }));
        let options: Vec<_> = prop
            .static_options()
            .into_iter()
            .map(|option| (option.label, option.value))
            .collect();
        assert_eq!(
            options,
            [
                ("x".to_owned(), json!("x")),
                ("Y".to_owned(), json!(2)),
                ("3".to_owned(), json!(3)),
            ]
        );
        let dynamic = definition(json!({"name": "a", "type": "string", "options": true}));
        assert!(dynamic.static_options().is_empty());
    }
}
