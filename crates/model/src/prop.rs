//! Props: the values that a component asks for, and the check of configured values
//! (docs/guide/writing-a-component.md, "Props").

mod http_request;
mod input;
mod json_kind;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use self::input::InputType;
use self::json_kind::kind_of;
use crate::{
    data_store::{DataStoreName, InvalidDataStore},
    error::Invalid,
    limits::PROP_VALUE_CHARS,
    schedule::Schedule,
};

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

/// The meaning of a prop to the platform.
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
    /// A key-value store that others share; its name is configured.
    DataStore,
    /// A request that the component sends whenever it wants.
    HttpRequest,
    /// Events that an app's vendor sends to Pipedream itself, which reach no other node.
    Apphook,
    /// Nothing to configure: text for people, or a folder that is there anyway.
    Inert,
}

/// Configured values by prop name.
pub type ConfiguredProps = Map<String, Value>;

impl PropDefinition {
    /// A prop that takes any value and may be left out.
    pub fn any(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            type_name: "any".to_owned(),
            attributes: Map::from_iter([("optional".to_owned(), Value::Bool(true))]),
        }
    }

    /// The meaning of the prop to the platform.
    pub fn kind(&self) -> PropKind {
        match self.type_name.as_str() {
            "app" => PropKind::App,
            "$.interface.http" => PropKind::Http,
            "$.interface.timer" => PropKind::Timer,
            "$.service.db" => PropKind::Db,
            "data_store" => PropKind::DataStore,
            "http_request" => PropKind::HttpRequest,
            "$.interface.apphook" => PropKind::Apphook,
            "alert" | "dir" => PropKind::Inert,
            // A prop that the platform provides cannot be configured.
            provided if provided.starts_with("$.") => PropKind::Inert,
            _ => PropKind::Input,
        }
    }

    /// Whether the type means something here or at Pipedream; others are taken as they are configured.
    pub fn has_known_type(&self) -> bool {
        match self.kind() {
            PropKind::Input => self.item_type() != InputType::Unknown,
            PropKind::Inert => !self.type_name.starts_with("$."),
            PropKind::App
            | PropKind::Http
            | PropKind::Timer
            | PropKind::Db
            | PropKind::DataStore
            | PropKind::HttpRequest
            | PropKind::Apphook => true,
        }
    }

    /// Type of the value that somebody enters, of each item where that is a list; `None` for props of other kinds.
    pub fn input_type(&self) -> Option<InputType> {
        (self.kind() == PropKind::Input).then(|| self.item_type())
    }

    /// Whether somebody enters a list.
    pub fn is_list(&self) -> bool {
        self.kind() == PropKind::Input && self.type_name.ends_with("[]")
    }

    fn item_type(&self) -> InputType {
        let of_items = self.type_name.strip_suffix("[]");
        InputType::of(of_items.unwrap_or(&self.type_name))
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

    /// From now on it may be left out.
    pub fn make_optional(&mut self) {
        self.attributes
            .insert("optional".to_owned(), Value::Bool(true));
    }

    /// The value used when none is configured.
    pub fn default_value(&self) -> Option<&Value> {
        self.attributes
            .get("default")
            .filter(|value| !value.is_null())
    }

    /// The name of the data store that the prop stands for, with these values: the configured one, else the default.
    pub fn data_store<'a>(&'a self, configured: &'a ConfiguredProps) -> Option<&'a str> {
        let is_store = self.kind() == PropKind::DataStore;
        let value = configured.get(&self.name).or(self.default_value());
        value.filter(|_| is_store)?.as_str()
    }

    /// Whether the value is stored encrypted and never shown.
    pub fn is_secret(&self) -> bool {
        self.flag("secret")
    }

    /// Whether a source or action cannot be configured without a value for it. Nobody is asked for
    /// hidden or disabled props.
    pub fn is_required(&self) -> bool {
        if ["optional", "hidden", "disabled"]
            .iter()
            .any(|flag| self.flag(flag))
        {
            return false;
        }
        match self.kind() {
            PropKind::Input | PropKind::DataStore => self.default_value().is_none(),
            PropKind::HttpRequest => self
                .default_value()
                .is_none_or(|default| default.get("url").is_none()),
            PropKind::App => true,
            PropKind::Http
            | PropKind::Timer
            | PropKind::Db
            | PropKind::Apphook
            | PropKind::Inert => false,
        }
    }

    /// The value that the component's code gets for a configured one: a pick (`{"__lv": {label,
    /// value}}`) is its value, or both for a prop with `withLabel`.
    pub fn final_value(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.final_value(item)).collect(),
            // The configured value comes before the component's proposal, field by field.
            Value::Object(given) if self.kind() == PropKind::HttpRequest => {
                let default = self.default_value().and_then(Value::as_object);
                let mut request = default.cloned().unwrap_or_default();
                request.extend(given.clone());
                Value::Object(request)
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => match value.get("__lv") {
                Some(pick) if self.flag("withLabel") => pick.clone(),
                Some(pick) => pick.get("value").unwrap_or(pick).clone(),
                None if self.flag("withLabel") && value.get("value").is_none() => {
                    json!({ "label": self.label_of(value), "value": value })
                }
                None => value.clone(),
            },
        }
    }

    /// The text that people see for a value that was not picked: the label among the static options, or
    /// the value itself.
    fn label_of(&self, value: &Value) -> Value {
        let options = self.attributes.get("options").and_then(Value::as_array);
        let mut options = options.into_iter().flatten();
        let option = options.find(|option| option.get("value") == Some(value));
        match (option.and_then(|option| option.get("label")), value) {
            (Some(label), _) => label.clone(),
            (None, Value::String(text)) => Value::from(text.as_str()),
            (None, other) => Value::from(other.to_string()),
        }
    }

    /// A timer's schedule: the one that the component fixes, else the configured one, else the definition's default,
    /// else every 15 minutes.
    ///
    /// # Errors
    /// Names the field of the timer value that is wrong.
    pub fn schedule(&self, configured: Option<&Value>) -> Result<Schedule, Invalid> {
        let fixed = self.attributes.get("static");
        let value = fixed
            .or(configured)
            .filter(|value| !value.is_null())
            .or_else(|| self.default_value());
        match value {
            Some(value) => Schedule::parse(value).map_err(|invalid| invalid.within(&self.name)),
            None => Ok(Schedule::default()),
        }
    }

    fn check(&self, value: &Value) -> Result<Value, Invalid> {
        match self.kind() {
            _ if self.flag("disabled") => Ok(Value::Null),
            PropKind::Timer => self
                .schedule(Some(value))
                .map(|schedule| schedule.to_value()),
            PropKind::App => {
                check_account(value).map_err(|reason| Invalid::new(&self.name, reason))
            }
            PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => Ok(Value::Null),
            PropKind::HttpRequest => {
                check_size(value).map_err(|reason| Invalid::new(&self.name, reason))?;
                http_request::check(value, self.default_value())
                    .map_err(|invalid| invalid.within(&self.name))?;
                Ok(value.clone())
            }
            PropKind::DataStore => check_data_store(&self.final_value(value))
                .map(|name| json!(name))
                .map_err(|reason| Invalid::new(&self.name, reason)),
            PropKind::Input => self
                .check_input(value)
                .map(|()| self.as_typed(value))
                .map_err(|reason| Invalid::new(&self.name, reason)),
        }
    }

    fn check_input(&self, value: &Value) -> Result<(), String> {
        check_size(value)?;
        if !self.is_list() {
            return self.check_item(value);
        }
        let items = value.as_array().ok_or("expected an array")?;
        items.iter().enumerate().try_for_each(|(index, item)| {
            self.check_item(item)
                .map_err(|reason| format!("item {}: {reason}", index + 1))
        })
    }

    /// The value, with text of objects read: forms and command lines know text only.
    fn as_typed(&self, value: &Value) -> Value {
        let read = |value: &Value| {
            let object = value.as_str().and_then(object_in);
            object.unwrap_or_else(|| value.clone())
        };
        match (self.item_type(), value) {
            (InputType::Object, Value::Array(items)) if self.is_list() => {
                items.iter().map(read).collect()
            }
            (InputType::Object, value) if !self.is_list() => read(value),
            (_, value) => value.clone(),
        }
    }

    fn check_item(&self, value: &Value) -> Result<(), String> {
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
        let expected = |expected: &str| format!("expected {expected}, got {}", kind_of(value));
        let is_of_type = |is: bool, name: &str| is.then_some(()).ok_or_else(|| expected(name));
        match self.item_type() {
            InputType::Boolean => is_of_type(value.is_boolean(), "true or false"),
            InputType::String => is_of_type(value.is_string(), "a string"),
            InputType::Integer => self.check_integer(value),
            InputType::Object => match value.as_str() {
                // Published components take several objects as the text of a list, which they read themselves.
                Some(text) if object_in(text).is_some() || is_list(text) => Ok(()),
                Some(_) => {
                    Err("expected an object, got text that is not a JSON object or list".to_owned())
                }
                None => is_of_type(value.is_object(), "an object"),
            },
            InputType::Any | InputType::Sql | InputType::Unknown => Ok(()),
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

/// The object that JSON text is.
fn object_in(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_object().then_some(value)
}

fn is_list(text: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|value: Value| value.is_array())
}

fn check_size(value: &Value) -> Result<(), String> {
    match size(value) {
        size if size > PROP_VALUE_CHARS => Err(format!(
            "is {size} characters; a prop's value may have at most {PROP_VALUE_CHARS}"
        )),
        _ => Ok(()),
    }
}

/// Characters of a value. Text counts as it is, not as JSON escapes it; in lists and objects the
/// separators of items count too, so that many empty ones are not free.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().fold(2, |sum, item| sum + size(item) + 1),
        Value::Object(fields) => fields.iter().fold(2, |sum, (name, value)| {
            sum + name.chars().count() + size(value) + 2
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string().len(),
    }
}

fn check_data_store(value: &Value) -> Result<DataStoreName, String> {
    let name = value.as_str().ok_or_else(|| {
        format!(
            "expected the name of a data store as a string, got {}",
            kind_of(value)
        )
    })?;
    name.parse()
        .map_err(|error: InvalidDataStore| error.to_string())
}

fn check_account(value: &Value) -> Result<Value, String> {
    match value.get("authProvisionId").and_then(Value::as_str) {
        Some(id) => Ok(json!({ "authProvisionId": id })),
        None => Err(
            "expected {\"authProvisionId\": \"apn_…\"}, an account's id; `headwater accounts list` and `GET \
             /v1/accounts` have them"
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
) -> Result<ConfiguredProps, Invalid> {
    let unknown = values
        .keys()
        .find(|name| !definitions.iter().any(|prop| prop.name == **name));
    if let Some(name) = unknown {
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
    Ok(configured)
}

/// Checks the present values, even if others are missing, for calls while somebody is still
/// configuring. Values of no known prop stay: `additionalProps` may have added it.
///
/// # Errors
/// The first prop, in declaration order, whose value does not fit.
pub fn configure_some(
    definitions: &[PropDefinition],
    values: &ConfiguredProps,
) -> Result<ConfiguredProps, Invalid> {
    let mut configured = values.clone();
    configured.retain(|_, value| !value.is_null());
    for prop in definitions {
        let Some(value) = configured.remove(&prop.name) else {
            continue;
        };
        let value = prop.check(&value)?;
        if !value.is_null() {
            configured.insert(prop.name.clone(), value);
        }
    }
    Ok(configured)
}

/// A component's own props and those that `additionalProps` added. One of the same name as an own one takes its place.
pub fn merge(own: &[PropDefinition], additional: &[PropDefinition]) -> Vec<PropDefinition> {
    let own_or_replaced = own.iter().map(|prop| {
        let replacement = additional.iter().find(|added| added.name == prop.name);
        replacement.unwrap_or(prop)
    });
    let is_new = |added: &&PropDefinition| !own.iter().any(|prop| prop.name == added.name);
    own_or_replaced
        .chain(additional.iter().filter(is_new))
        .cloned()
        .collect()
}

fn missing(prop: &PropDefinition) -> String {
    match prop.app() {
        Some(app) => format!(
            "is required: {{\"authProvisionId\": \"apn_…\"}} of an account of `{app}`; connect one with `headwater accounts \
             connect {app}` or `POST /v1/accounts/connect`, or give its keys to `accounts add` or `POST /v1/accounts`"
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
        configure(&[prop(definition)], values.as_object().unwrap())
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
            (json!({"name": "p", "type": "data_store"}), json!({})),
            (json!({"name": "p", "type": "data_store"}), json!(" ")),
            (
                json!({"name": "p", "type": "string"}),
                json!("x".repeat(PROP_VALUE_CHARS + 1)),
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
    fn text_counts_its_characters_and_no_escapes() {
        let definition = json!({"name": "p", "type": "string"});
        for character in ["\n", "\"", "\u{1}", "ü", "😀", "\\"] {
            let fits = json!(character.repeat(PROP_VALUE_CHARS));
            assert_eq!(
                configured(definition.clone(), fits.clone()).unwrap()["p"],
                fits
            );
            let more = json!(character.repeat(PROP_VALUE_CHARS + 1));
            let refused = configured(definition.clone(), more).unwrap_err();
            assert!(refused.contains("65537 characters"), "{refused}");
        }
        let many = json!(vec![""; PROP_VALUE_CHARS]);
        let list = json!({"name": "p", "type": "string[]"});
        configured(list, many).unwrap_err();
    }

    #[test]
    fn text_of_an_object_prop_is_read_as_json() {
        let object = json!({"name": "p", "type": "object"});
        let read = configured(object.clone(), json!(" {\"a\": [1]} ")).unwrap();
        assert_eq!(read["p"], json!({"a": [1]}));
        let list = configured(object.clone(), json!("[{}]")).unwrap();
        assert_eq!(list["p"], json!("[{}]"), "for the component to read");
        for text in ["", "x", "7", "{", "null", "{\"a\": 1} more"] {
            let refused = configured(object.clone(), json!(text)).unwrap_err();
            assert!(refused.contains("not a JSON object"), "{refused}");
        }
        let list = json!({"name": "p", "type": "object[]"});
        let read = configured(list, json!(["{}", {"b": 2}])).unwrap();
        assert_eq!(read["p"], json!([{}, {"b": 2}]));
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
            (json!({"name": "p", "type": "data_store"}), false),
            (json!({"name": "p", "type": "dir", "sync": true}), true),
            (json!({"name": "p", "type": "alert", "content": "c"}), true),
            (json!({"name": "p", "type": "$.interface.apphook"}), true),
            (json!({"name": "p", "type": "string", "hidden": true}), true),
            (
                json!({"name": "p", "type": "string", "disabled": true}),
                true,
            ),
            (
                json!({"name": "p", "type": "http_request", "default": {"method": "POST"}}),
                false,
            ),
            (
                json!({"name": "p", "type": "http_request", "default": {"url": "https://a.example"}}),
                true,
            ),
        ] {
            assert_eq!(
                configure(&[prop(definition.clone())], &none).is_ok(),
                ok,
                "{definition}"
            );
        }
    }

    #[test]
    fn a_value_for_no_prop_is_refused() {
        let values = json!({ "typo": 1 });
        let refused = configure(&[], values.as_object().unwrap());
        assert_eq!(refused.unwrap_err().field, "typo");
    }

    #[test]
    fn what_is_still_missing_is_no_error_while_somebody_configures() {
        let text = prop(json!({"name": "text", "type": "string"}));
        let number = prop(json!({"name": "number", "type": "integer"}));
        let values = json!({"number": 3, "added": true, "gone": null});
        let definitions = [text, number];
        let configured = configure_some(&definitions, values.as_object().unwrap()).unwrap();
        assert_eq!(
            Value::Object(configured),
            json!({"number": 3, "added": true})
        );
        let values = json!({"number": "three"});
        let refused = configure_some(&definitions, values.as_object().unwrap());
        assert_eq!(refused.unwrap_err().field, "number");
    }

    #[test]
    fn an_additional_prop_takes_the_place_of_one_of_its_name() {
        let own = [
            prop(json!({"name": "a", "type": "string"})),
            prop(json!({"name": "b", "type": "string"})),
        ];
        let added = [
            prop(json!({"name": "a", "type": "integer"})),
            prop(json!({"name": "c", "type": "string"})),
        ];
        let merged = merge(&own, &added);
        let shown: Vec<_> = merged
            .iter()
            .map(|prop| (&*prop.name, &*prop.type_name))
            .collect();
        assert_eq!(shown, [("a", "integer"), ("b", "string"), ("c", "string")]);
    }

    #[test]
    fn a_pick_is_its_value_or_both_with_its_label() {
        let pick = json!({"__lv": {"label": "Bee", "value": 2}});
        let plain = prop(json!({"name": "p", "type": "integer"}));
        let labelled = prop(json!({"name": "p", "type": "integer", "withLabel": true,
            "options": [{"label": "Two", "value": 2}]}));
        for (typed, expected) in [
            (json!(2), json!({"label": "Two", "value": 2})),
            (json!(3), json!({"label": "3", "value": 3})),
            (json!([2]), json!([{"label": "Two", "value": 2}])),
            (
                json!({"label": "x", "value": 4}),
                json!({"label": "x", "value": 4}),
            ),
        ] {
            assert_eq!(labelled.final_value(&typed), expected, "{typed}");
        }
        assert_eq!(plain.final_value(&pick), json!(2));
        assert_eq!(plain.final_value(&json!([pick, 3])), json!([2, 3]));
        assert_eq!(
            labelled.final_value(&pick),
            json!({"label": "Bee", "value": 2})
        );
        assert_eq!(plain.final_value(&json!({"a": 1})), json!({"a": 1}));
    }

    #[test]
    fn a_disabled_prop_is_ignored_and_a_fixed_timer_stays() {
        let disabled = json!({"name": "p", "type": "integer", "disabled": true});
        assert!(configured(disabled, json!("anything")).unwrap().is_empty());
        let timer =
            json!({"name": "p", "type": "$.interface.timer", "static": {"intervalSeconds": 30}});
        let shown = configured(timer, json!({"intervalSeconds": 60})).unwrap();
        assert_eq!(shown["p"], json!({"cron": null, "interval_seconds": 30}));
    }

    #[test]
    fn a_request_is_made_of_what_is_configured_and_of_the_default() {
        let request = prop(json!({
            "name": "p", "type": "http_request", "default": {"method": "POST", "headers": []},
        }));
        let value = json!({"url": "https://a.example", "headers": {"x": "1"}});
        assert_eq!(
            request.final_value(&value),
            json!({"method": "POST", "url": "https://a.example", "headers": {"x": "1"}})
        );
        let definition = json!({"name": "p", "type": "http_request"});
        let refused = configured(definition, json!({"url": "a.example"}));
        assert!(refused.unwrap_err().starts_with("p.url: "));
    }

    #[test]
    fn a_timer_value_is_shown_normalized() {
        let timer = json!({"name": "p", "type": "$.interface.timer"});
        let shown = configured(timer, json!({"intervalSeconds": 60})).unwrap();
        assert_eq!(shown["p"], json!({"cron": null, "interval_seconds": 60}));
    }

    #[test]
    fn types_that_mean_something_are_known() {
        for (type_name, is_known) in [
            ("string", true),
            ("integer[]", true),
            ("$.service.db", true),
            ("$.interface.apphook", true),
            ("alert", true),
            ("strng", false),
            ("strng[]", false),
            ("$.interface.timr", false),
        ] {
            let prop = prop(json!({"name": "p", "type": type_name}));
            assert_eq!(prop.has_known_type(), is_known, "{type_name}");
        }
        assert!(!prop(json!({"name": "p", "type": "$.interface.timr"})).is_required());
    }

    #[test]
    fn only_what_somebody_enters_has_a_type_and_lists() {
        for (type_name, input_type, is_list) in [
            ("string", Some(InputType::String), false),
            ("integer[]", Some(InputType::Integer), true),
            ("sql", Some(InputType::Sql), false),
            ("strng[]", Some(InputType::Unknown), true),
            ("app[]", Some(InputType::Unknown), true),
            ("app", None, false),
            ("data_store", None, false),
            ("$.interface.timer[]", None, false),
        ] {
            let prop = prop(json!({"name": "p", "type": type_name}));
            assert_eq!(prop.input_type(), input_type, "{type_name}");
            assert_eq!(prop.is_list(), is_list, "{type_name}");
        }
    }
}
