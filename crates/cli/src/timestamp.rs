//! The display of points in time: RFC 3339 in UTC, so that lines of two machines compare. Reads no
//! clock.

use chrono::{DateTime, SecondsFormat};
use serde_json::Value;

/// Epoch milliseconds, to the millisecond.
pub(crate) fn from_millis(value: &Value) -> String {
    let time = value.as_i64().and_then(DateTime::from_timestamp_millis);
    time.map_or_else(unknown, |time| {
        time.to_rfc3339_opts(SecondsFormat::Millis, true)
    })
}

/// Epoch seconds, to the second.
pub(crate) fn from_seconds(value: &Value) -> String {
    let time = value
        .as_i64()
        .and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.map_or_else(unknown, |time| {
        time.to_rfc3339_opts(SecondsFormat::Secs, true)
    })
}

fn unknown() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_utc() {
        assert_eq!(
            from_millis(&json!(1_767_225_600_123_i64)),
            "2026-01-01T00:00:00.123Z"
        );
        assert_eq!(from_seconds(&json!(1_767_225_600)), "2026-01-01T00:00:00Z");
        assert_eq!(from_seconds(&Value::Null), "-");
    }
}
