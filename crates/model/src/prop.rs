//! Props: what a component asks for, and whether configured values fit (spec "Component model: props").

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{error::Invalid, limits::PROP_VALUE_BYTES, schedule::Schedule};

/// One prop of a component, as described: name, type and every further JSON property of its definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PropDefinition {
    /// The property of `this` that holds the value.
    pub name: String,
    /// The prop's type as written, such as `string[]` or `$.interface.http`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Everything else (`label`, `optional`, `default`, `options`, `secret`, `app` …).
    #[serde(flatten)]
    pub attributes: Map<String, Value>,
}

/// What a prop is to the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropKind {
    /// A value that somebody configures.
    Input,
    /// Credentials of a connected account.
    App,
    /// An HTTP endpoint of the source.
    Http,
    /// A timer of the source.
    Timer,
    /// The source's key-value store.
    Db,
    /// Nothing to configure: text for people, or an interface that has no meaning here.
    Inert,
}

/// Configured values by prop name.
pub type ConfiguredProps = Map<String, Value>;

impl PropDefinition {
    /// What the prop is to the platform.
    pub fn kind(&self) -> PropKind {
        match self.type_name.as_str() {
            "app" => PropKind::App,
            "$.interface.http" => PropKind::Http,
            "$.interface.timer" => PropKind::Timer,
            "$.service.db" => PropKind::Db,
            "alert" | "dir" | "$.interface.apphook" => PropKind::Inert,
            _ => PropKind::Input,
        }
    }

    /// Whether a boolean property of the definition is true.
    pub fn flag(&self, name: &str) -> bool {
        self.attributes
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// The app's name slug, for an app prop.
    pub fn app(&self) -> Option<&str> {
        self.attributes.get("app").and_then(Value::as_str)
    }

    /// The value used when none is configured.
    pub fn default_value(&self) -> Option<&Value> {
        self.attributes
            .get("default")
            .filter(|value| !value.is_null())
    }

    /// Whether the value is stored encrypted and never shown.
    pub fn is_secret(&self) -> bool {
        self.flag("secret")
    }

    /// Whether a source or action cannot be configured without a value for it.
    pub fn is_required(&self) -> bool {
        match self.kind() {
            PropKind::Input => !self.flag("optional") && self.default_value().is_none(),
            PropKind::App => !self.flag("optional"),
            PropKind::Http | PropKind::Timer | PropKind::Db | PropKind::Inert => false,
        }
    }

    /// A timer's schedule: the configured one, else the definition's default, else every 15 minutes.
    ///
    /// # Errors
    /// Names the field of the timer value that is wrong.
    pub fn schedule(&self, configured: Option<&Value>) -> Result<Schedule, Invalid> {
        let value = configured
            .filter(|value| !value.is_null())
            .or_else(|| self.default_value());
        match value {
            Some(value) => Schedule::parse(value).map_err(|invalid| invalid.within(&self.name)),
            None => Ok(Schedule::default()),
        }
    }

    fn check(&self, value: &Value) -> Result<Value, Invalid> {
        match self.kind() {
            PropKind::Timer => self
                .schedule(Some(value))
                .map(|schedule| schedule.to_value()),
            PropKind::App => {
                check_account(value).map_err(|reason| Invalid::new(&self.name, reason))
            }
            PropKind::Http | PropKind::Db | PropKind::Inert => Ok(Value::Null),
            PropKind::Input => {
                self.check_input(value)
                    .map_err(|reason| Invalid::new(&self.name, reason))?;
                Ok(value.clone())
            }
        }
    }

    fn check_input(&self, value: &Value) -> Result<(), String> {
        let size = value.to_string().len();
        if size > PROP_VALUE_BYTES {
            return Err(format!(
                "is {size} bytes; a prop's value may have at most {PROP_VALUE_BYTES}"
            ));
        }
        match self.type_name.strip_suffix("[]") {
            Some(item_type) => {
                let items = value.as_array().ok_or("expected an array")?;
                items.iter().enumerate().try_for_each(|(index, item)| {
                    self.check_scalar(item_type, item)
                        .map_err(|reason| format!("item {index}: {reason}"))
                })
            }
            None => self.check_scalar(&self.type_name, value),
        }
    }

    fn check_scalar(&self, type_name: &str, value: &Value) -> Result<(), String> {
        // A `{label, value}` pick (`__lv`), or `{label, value}` of a prop with `withLabel`, stands for its value.
        let value = value
            .get("__lv")
            .and_then(|pick| pick.get("value"))
            .unwrap_or(value);
        let value = if self.flag("withLabel") {
            value.get("value").unwrap_or(value)
        } else {
            value
        };
        match type_name {
            "boolean" if !value.is_boolean() => {
                Err(format!("expected true or false, got {}", kind_of(value)))
            }
            "string" if !value.is_string() => {
                Err(format!("expected a string, got {}", kind_of(value)))
            }
            "object" if !value.is_object() && !value.is_string() => {
                Err(format!("expected an object, got {}", kind_of(value)))
            }
            "integer" => self.check_integer(value),
            _ => Ok(()),
        }
    }

    fn check_integer(&self, value: &Value) -> Result<(), String> {
        let number = value.as_f64().filter(|number| number.fract() == 0.0);
        let number =
            number.ok_or_else(|| format!("expected an integer, got {}", kind_of(value)))?;
        let bound = |name: &str| self.attributes.get(name).and_then(Value::as_f64);
        match (bound("min"), bound("max")) {
            (Some(min), _) if number < min => Err(format!("must be at least {min}")),
            (_, Some(max)) if number > max => Err(format!("must be at most {max}")),
            _ => Ok(()),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn check_account(value: &Value) -> Result<Value, String> {
    match value.get("authProvisionId").and_then(Value::as_str) {
        Some(id) => Ok(json!({ "authProvisionId": id })),
        None => Err(
            "expected {\"authProvisionId\": \"apn_…\"}; create one with `headwater accounts add`"
                .to_owned(),
        ),
    }
}

/// Checks and normalizes the values for a component's props: timers become
/// `{cron, interval_seconds, timezone}`, values of props that take none are dropped, nulls count as absent.
///
/// # Errors
/// The first prop, in declaration order, that is missing or does not fit, or a value for no prop.
pub fn configure(
    definitions: &[PropDefinition],
    values: &ConfiguredProps,
    accepts_more: bool,
) -> Result<ConfiguredProps, Invalid> {
    let unknown = values
        .keys()
        .find(|name| !definitions.iter().any(|prop| prop.name == **name));
    if let Some(name) = unknown.filter(|_| !accepts_more) {
        let known: Vec<_> = definitions.iter().map(|prop| prop.name.as_str()).collect();
        return Err(Invalid::new(
            name,
            format!(
                "the component has no such prop; it has: {}",
                known.join(", ")
            ),
        ));
    }
    let mut configured = ConfiguredProps::new();
    for prop in definitions {
        match values.get(&prop.name).filter(|value| !value.is_null()) {
            Some(value) => {
                let value = prop.check(value)?;
                if !value.is_null() {
                    configured.insert(prop.name.clone(), value);
                }
            }
            None if prop.is_required() => return Err(Invalid::new(&prop.name, missing(prop))),
            None => {}
        }
    }
    for (name, value) in values
        .iter()
        .filter(|(name, _)| !definitions.iter().any(|prop| prop.name == **name))
    {
        configured.insert(name.clone(), value.clone());
    }
    Ok(configured)
}

fn missing(prop: &PropDefinition) -> String {
    match prop.app() {
        Some(app) => format!(
            "is required: connect an account of `{app}` with `headwater accounts add {app}`"
        ),
        None => format!("is required (type {})", prop.type_name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prop(definition: Value) -> PropDefinition {
        serde_json::from_value(definition).unwrap()
    }

    fn configured(definition: Value, value: Value) -> Result<ConfiguredProps, String> {
        let values = json!({ "p": value });
        configure(&[prop(definition)], values.as_object().unwrap(), false)
            .map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn values_that_do_not_fit_name_the_prop() {
        for (definition, value) in [
            (json!({"name": "p", "type": "boolean"}), json!("yes")),
            (json!({"name": "p", "type": "string"}), json!(7)),
            (json!({"name": "p", "type": "integer"}), json!(1.5)),
            (json!({"name": "p", "type": "integer", "min": 3}), json!(2)),
            (json!({"name": "p", "type": "integer", "max": 3}), json!(4)),
            (json!({"name": "p", "type": "string[]"}), json!("one")),
            (json!({"name": "p", "type": "integer[]"}), json!([1, "two"])),
            (json!({"name": "p", "type": "app", "app": "x"}), json!({})),
            (
                json!({"name": "p", "type": "string"}),
                json!("x".repeat(PROP_VALUE_BYTES)),
            ),
            (
                json!({"name": "p", "type": "$.interface.timer"}),
                json!({"cron": "nonsense"}),
            ),
        ] {
            let error = configured(definition.clone(), value).expect_err(&definition.to_string());
            assert!(error.starts_with('p'), "{error}");
        }
    }

    #[test]
    fn a_required_prop_must_be_there_unless_it_is_optional_or_has_a_default() {
        let none = ConfiguredProps::new();
        for (definition, ok) in [
            (json!({"name": "p", "type": "string"}), false),
            (
                json!({"name": "p", "type": "string", "optional": true}),
                true,
            ),
            (json!({"name": "p", "type": "string", "default": "d"}), true),
            (json!({"name": "p", "type": "app", "app": "x"}), false),
            (json!({"name": "p", "type": "$.interface.http"}), true),
            (json!({"name": "p", "type": "$.service.db"}), true),
        ] {
            assert_eq!(
                configure(&[prop(definition.clone())], &none, false).is_ok(),
                ok,
                "{definition}"
            );
        }
    }

    #[test]
    fn a_value_for_no_prop_is_refused_unless_props_are_dynamic() {
        let values = json!({ "typo": 1 });
        let values = values.as_object().unwrap();
        assert_eq!(configure(&[], values, false).unwrap_err().field, "typo");
        assert_eq!(&configure(&[], values, true).unwrap(), values);
    }

    #[test]
    fn a_timer_value_is_shown_normalized() {
        let timer = json!({"name": "p", "type": "$.interface.timer"});
        let shown = configured(timer, json!({"intervalSeconds": 60})).unwrap();
        assert_eq!(shown["p"], json!({"cron": null, "interval_seconds": 60}));
    }
}
