//! Values that come as JSON in a body and as text in a query (docs/api-design.md, "Leniency").

use chrono::{DateTime, NaiveDate};
use headwater_model::{prop::ConfiguredProps, time::EpochMs};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// Whether a comma-separated `expand` parameter has this name.
pub(super) fn expands(expand: Option<&str>, wanted: &str) -> bool {
    let mut names = expand.unwrap_or_default().split(',');
    names.any(|name| name.trim() == wanted)
}

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

/// `1.5`, `"1.5"`; null is absent.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    let number = match value.as_str() {
        Some(text) => text.parse().ok(),
        None => value.as_f64(),
    };
    number
        .map(Some)
        .ok_or_else(|| D::Error::custom("expected a number"))
}

/// Any JSON, null too, which differs from leaving it out.
pub(crate) fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    to_raw_value(&value).map(Some).map_err(D::Error::custom)
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

/// A text, or null to take it away, which differs from leaving it out.
pub(crate) fn nullable<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Epoch milliseconds from a number or its text, or from a time in ISO 8601: with a zone, or a date
/// alone, which begins at midnight UTC. Null is absent.
pub(crate) fn time_ms<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<EpochMs>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let expected = "expected epoch milliseconds or a time such as 2026-01-31T12:00:00Z";
    match (&value, value.as_str()) {
        (Value::Null, _) => return Ok(None),
        (_, Some(text)) => from_text(text),
        _ => value.as_u64(),
    }
    .map(|ms| Some(EpochMs(ms)))
    .ok_or_else(|| D::Error::custom(expected))
}

fn from_text(text: &str) -> Option<u64> {
    if let Ok(ms) = text.parse() {
        return Some(ms);
    }
    let midnight = || {
        let date: NaiveDate = text.parse().ok()?;
        Some(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis())
    };
    let time = DateTime::parse_from_rfc3339(text).ok();
    let ms = time.map(|time| time.timestamp_millis()).or_else(midnight)?;
    u64::try_from(ms).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_epoch_milliseconds_or_iso_8601() {
        for (given, expected) in [
            (json!(1_767_225_600_123_u64), 1_767_225_600_123),
            (json!("1767225600123"), 1_767_225_600_123),
            (json!("2026-01-01T00:00:00.123Z"), 1_767_225_600_123),
            (json!("2026-01-01T01:00:00+01:00"), 1_767_225_600_000),
            (json!("2026-01-01"), 1_767_225_600_000),
        ] {
            assert_eq!(
                time_ms(given.clone()).unwrap(),
                Some(EpochMs(expected)),
                "{given}"
            );
        }
        assert_eq!(time_ms(Value::Null).unwrap(), None);
        for wrong in [
            json!(-1),
            json!(1.5),
            json!(true),
            json!(""),
            json!("yesterday"),
            json!("2026-01-01T00:00:00"),
            json!("1969-12-31"),
        ] {
            assert!(time_ms(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
