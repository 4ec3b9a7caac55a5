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
            Ok(serde_json::from_str(trimmed).unwrap_or_else(|_| Value::from(text)))
        }
    }
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
