//! The text of a prop's value turned into JSON by the prop's declared type. App props are left
//! out: their accounts are looked up at the node.

use serde_json::{Map, Value};

use super::definition::{Element, PropDefinition};
use super::timer;

/// The reason why a text is not a value of its prop.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("prop {prop}: {reason}")]
pub(super) struct InvalidValue {
    pub(super) prop: String,
    pub(super) reason: String,
}

/// Parses one value as given with `--prop name=value` or typed at a prompt.
pub(super) fn parse(definition: &PropDefinition, text: &str) -> Result<Value, InvalidValue> {
    let parsed = if definition.is_array() {
        parse_array(definition.element(), text)
    } else {
        parse_element(definition.element(), text)
    };
    parsed.map_err(|reason| InvalidValue {
        prop: definition.name().to_owned(),
        reason,
    })
}

/// A value that came as JSON: only texts that stand for something are turned into it.
pub(super) fn from_json(definition: &PropDefinition, value: Value) -> Result<Value, InvalidValue> {
    match (&value, definition.element()) {
        (Value::String(text), Element::Timer) => parse(definition, text),
        _ => Ok(value),
    }
}

fn parse_array(element: Element, text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('[') {
        return match serde_json::from_str(text) {
            Ok(list @ Value::Array(_)) => Ok(list),
            Ok(_) => Err("expected a list".to_owned()),
            Err(error) => Err(format!("not a JSON list: {error}")),
        };
    }
    let items = text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    items.map(|item| parse_element(element, item)).collect()
}

fn parse_element(element: Element, text: &str) -> Result<Value, String> {
    match element {
        Element::String | Element::App => Ok(Value::from(text)),
        Element::Boolean => match text {
            "true" | "yes" => Ok(Value::from(true)),
            "false" | "no" => Ok(Value::from(false)),
            _ => Err(format!("{text:?} is not a boolean; write true or false")),
        },
        Element::Integer => text
            .trim()
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| format!("{text:?} is not an integer")),
        Element::Object => serde_json::from_str::<Map<String, Value>>(text)
            .map(Value::Object)
            .map_err(|error| format!("not a JSON object: {error}")),
        Element::Any => serde_json::from_str(text)
            .map_err(|error| format!("not JSON: {error}; a text is written as '\"text\"'")),
        Element::Timer => parse_timer(text),
        Element::Provided => parse_provided(text),
    }
}

fn parse_timer(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return parse_element(Element::Object, text);
    }
    timer::parse(text).ok_or_else(|| {
        format!(
            "{text:?} is not a timer; write 30s, 15m, 1h, a number of seconds or a cron expression \
             such as '0 9 * * *'"
        )
    })
}

/// The platform fills these in; an object can still override, as the API allows.
fn parse_provided(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return parse_element(Element::Object, text);
    }
    Err("the platform provides it; leave it out".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(kind: &str, text: &str) -> Result<Value, InvalidValue> {
        let definition = serde_json::from_value(json!({"name": "p", "type": kind})).unwrap();
        parse(&definition, text)
    }

    #[test]
    fn values_follow_the_declared_type() {
        let table = [
            ("string", "12", json!("12")),
            ("string", "", json!("")),
            ("string", " a,b=c ", json!(" a,b=c ")),
            ("boolean", "true", json!(true)),
            ("boolean", "no", json!(false)),
            ("integer", "-12", json!(-12)),
            ("object", r#"{"a":[1]}"#, json!({"a": [1]})),
            ("any", "[1,2]", json!([1, 2])),
            ("any", "\"x\"", json!("x")),
            ("string[]", "a, b ,c", json!(["a", "b", "c"])),
            ("string[]", r#"["a,b","c"]"#, json!(["a,b", "c"])),
            ("string[]", "", json!([])),
            ("integer[]", "1,2", json!([1, 2])),
            ("$.interface.timer", "15m", json!({"intervalSeconds": 900})),
            (
                "$.interface.timer",
                r#"{"cron":"0 9 * * *","timezone":"Europe/Rome"}"#,
                json!({"cron": "0 9 * * *", "timezone": "Europe/Rome"}),
            ),
            ("data_store", "ds_1", json!("ds_1")),
        ];
        for (kind, text, expected) in table {
            assert_eq!(of(kind, text), Ok(expected), "{kind} {text}");
        }
    }

    #[test]
    fn a_wrong_value_names_the_prop_and_what_is_wrong() {
        let table = [
            ("boolean", "maybe"),
            ("integer", "1.5"),
            ("integer", ""),
            ("integer[]", "1,x"),
            ("object", "[1]"),
            ("object", "{"),
            ("any", "plain text"),
            ("string[]", "[1"),
            ("$.interface.timer", "often"),
            ("$.interface.http", "x"),
            ("$.service.db", "x"),
        ];
        for (kind, text) in table {
            let error = of(kind, text).unwrap_err();
            assert_eq!(error.prop, "p", "{kind} {text}");
        }
        assert_eq!(
            of("integer", "1.5").unwrap_err().to_string(),
            "prop p: \"1.5\" is not an integer"
        );
    }
}
