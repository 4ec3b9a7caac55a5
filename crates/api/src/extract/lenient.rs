//! Values that come as JSON in a body and as text in a query (design section 7, "Leniency").

use headwater_model::prop::ConfiguredProps;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// `true`, `"true"` and so on; null is absent.
pub(crate) fn boolean<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<bool>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match (&value, value.as_str()) {
        (Value::Null, _) => Ok(None),
        (Value::Bool(value), _) => Ok(Some(*value)),
        (_, Some("true")) => Ok(Some(true)),
        (_, Some("false")) => Ok(Some(false)),
        _ => Err(D::Error::custom("expected true or false")),
    }
}

/// `3`, `"3"`; null is absent.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    let number = match value.as_str() {
        Some(text) => text.parse().ok(),
        None => value.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    number
        .map(Some)
        .ok_or_else(|| D::Error::custom("expected an integer from 0"))
}

/// An object, or its JSON text; null is absent.
pub(crate) fn object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ConfiguredProps>, D::Error> {
    let expected = || D::Error::custom("expected an object");
    let mut value = Value::deserialize(deserializer)?;
    if let Value::String(text) = &value {
        value = serde_json::from_str(text).map_err(|_| expected())?;
    }
    if value.is_null() {
        return Ok(None);
    }
    match value {
        Value::Object(object) => Ok(Some(object)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(expected())
        }
    }
}
