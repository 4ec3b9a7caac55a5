//! One value as text: what is typed into a field, and what it stands for.

use headwater_model::prop::InputType;
use serde_json::{Value, json};

/// The label and value of a pick.
pub(super) fn picked(text: &str) -> Option<Value> {
    let pick: Value = text
        .starts_with("{\"__lv\":")
        .then(|| serde_json::from_str(text).ok())??;
    let pick = pick.get("__lv")?;
    pick.get("value").is_some().then(|| pick.clone())
}

/// The value of a text.
pub(super) fn read_item(item_type: InputType, text: &str) -> Result<Value, String> {
    if let Some(pick) = picked(text) {
        return Ok(json!({ "__lv": pick }));
    }
    let trimmed = text.trim();
    match item_type {
        InputType::String => Ok(Value::from(text)),
        InputType::Boolean => match trimmed {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            other => Err(format!("`{other}` is neither `true` nor `false`")),
        },
        InputType::Integer => {
            let signed = trimmed.parse::<i64>().map(Value::from);
            let number = signed.or_else(|_| trimmed.parse::<u64>().map(Value::from));
            number.map_err(|_| format!("`{trimmed}` is not a whole number"))
        }
        InputType::Object => match serde_json::from_str(trimmed) {
            Ok(object @ Value::Object(_)) => Ok(object),
            // Components read lists of objects themselves.
            Ok(Value::Array(_)) => Ok(Value::from(text)),
            Ok(_) => Err("must be a JSON object, such as {\"a\": 1}".to_owned()),
            Err(error) => Err(not_json(&error)),
        },
        InputType::Any | InputType::Sql | InputType::Unknown => {
            match serde_json::from_str(trimmed) {
                Ok(value) => Ok(value),
                Err(error) if is_like_json(item_type, trimmed) => Err(format!(
                    "begins like JSON and {}. For a text that begins so, write it as JSON, in quotes",
                    not_json(&error)
                )),
                Err(_) => Ok(Value::from(text)),
            }
        }
    }
}

/// Whether somebody who wrote this meant JSON: an object or a list begins like it. Text may begin with such a bracket, too:
/// a template's two, a mark in square ones, a call in a query.
fn is_like_json(item_type: InputType, text: &str) -> bool {
    let rest = |bracket| text.strip_prefix(bracket).map(str::trim_start);
    if let Some(rest) = rest('{') {
        let is_name = |char: char| char.is_alphanumeric() || "_$'".contains(char);
        let name = rest.trim_start_matches(is_name);
        let has_name = name.len() < rest.len() && name.trim_start().starts_with(':');
        return rest.is_empty()
            || rest.starts_with(['"', '}'])
            || (has_name && item_type != InputType::Sql);
    }
    let literals = ["true", "false", "null"];
    rest('[').is_some_and(|rest| {
        let is_literal = literals.iter().any(|literal| {
            let after = rest.strip_prefix(literal);
            after.is_some_and(|after| after.trim_start().starts_with([',', ']']))
        });
        let after =
            rest.trim_start_matches(|char: char| char.is_ascii_digit() || "-+.eE".contains(char));
        let is_number =
            after.len() < rest.len() && (after.is_empty() || after.trim_start().starts_with(','));
        is_literal || is_number || rest.starts_with(['{', '[', '"'])
    })
}

pub(super) fn not_json(error: &serde_json::Error) -> String {
    format!("is not JSON: {error}")
}

/// The text that is read as this value.
pub(super) fn text_of(item_type: InputType, value: &Value) -> String {
    let json = || serde_json::to_string_pretty(value).unwrap_or_default();
    if value.get("__lv").is_some() {
        return value.to_string();
    }
    match (item_type, value) {
        (InputType::String | InputType::Object, Value::String(text)) => text.clone(),
        (InputType::Any | InputType::Sql | InputType::Unknown, Value::String(text)) => {
            // Text that would be read as something else is written as JSON.
            match read_item(item_type, text) {
                Ok(read) if read == *value && !text.is_empty() => text.clone(),
                _ => json(),
            }
        }
        _ => json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_json_is_no_text_and_text_with_brackets_is() {
        let read = |text: &str| read_item(InputType::Any, text);
        for text in [
            "{\"a\": 1",
            "{",
            "{a: 1}",
            "{'a': 1}",
            "[1, 2",
            "[\"a\" \"b\"]",
            "[true, x]",
            "[{\"a\": 1},]",
        ] {
            let reason = read(text).unwrap_err();
            assert!(
                reason.contains("is not JSON") && reason.contains("in quotes"),
                "{text}: {reason}"
            );
        }
        for text in [
            "plain",
            "[urgent] call",
            "[true story]",
            "[1] first",
            "{{ steps.x }}",
            "{call}",
            "\"so\" he said",
            "SELECT 1",
        ] {
            assert_eq!(read(text).unwrap(), json!(text));
        }
        for (text, value) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("[1]", json!([1])),
            ("7", json!(7)),
            ("\"{\"", json!("{")),
        ] {
            assert_eq!(read(text).unwrap(), value);
        }
        assert_eq!(
            read_item(InputType::Sql, "{call: x}").unwrap(),
            json!("{call: x}")
        );
        assert!(read_item(InputType::Sql, "{\"query\": ").is_err());
        for value in [
            json!("{"),
            json!("{a: 1}"),
            json!("[1, 2"),
            json!("[urgent]"),
        ] {
            let text = text_of(InputType::Any, &value);
            assert_eq!(read(&text).unwrap(), value, "{text}");
        }
    }
}
