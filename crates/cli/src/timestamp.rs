//! Points in time: their display in RFC 3339 and UTC, so that lines of two machines compare, and the forms in which
//! people give them.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat};
use headwater_model::time::EpochMs;
use serde_json::Value;

use crate::display;
use crate::usage_error::UsageError;

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

/// Epoch milliseconds in a table: the time, or for a person its age.
pub(crate) fn listed_millis(value: &Value) -> String {
    match display::current().is_overview() {
        true => value.as_i64().map_or_else(unknown, |ms| age(ms, now_ms())),
        false => from_millis(value),
    }
}

/// The same of epoch seconds.
pub(crate) fn listed_seconds(value: &Value) -> String {
    match display::current().is_overview() {
        true => {
            let millis = value.as_i64().and_then(|seconds| seconds.checked_mul(1000));
            millis.map_or_else(unknown, |ms| age(ms, now_ms()))
        }
        false => from_seconds(value),
    }
}

/// The time from then to now, or from now to then, in its largest unit.
pub(crate) fn age(ms: i64, now_ms: EpochMs) -> String {
    let now = i64::try_from(now_ms.0).unwrap_or(i64::MAX);
    let seconds = now.abs_diff(ms) / 1000;
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..172_800 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    match ms > now {
        true => format!("in {count} {unit}"),
        false => format!("{count} {unit} ago"),
    }
}

/// A time as a flag gives it, for the node: a duration counts back from now.
///
/// # Errors
/// It is no time.
pub(crate) fn given(flag: &str, text: &str, now_ms: EpochMs) -> Result<String, UsageError> {
    if let Some(ago) = headwater_model::duration::parse(text) {
        return Ok(now_ms.minus(ago).to_string());
    }
    match to_millis(text) {
        Some(0..) => Ok(text.to_owned()),
        Some(_) | None => Err(UsageError(format!(
            "{flag} {text} is no time: write 90s, 30m or 1h for that long ago, 2026-01-31T12:00:00Z, 2026-01-31, or epoch \
             milliseconds"
        ))),
    }
}

/// The same of a flag that may be left out.
pub(crate) fn given_or_none(
    flag: &str,
    text: Option<&str>,
    now_ms: EpochMs,
) -> Result<Option<String>, UsageError> {
    text.map(|text| given(flag, text, now_ms)).transpose()
}

/// `--since`, for what this program compares itself.
pub(crate) fn given_since(
    text: Option<&str>,
    now_ms: EpochMs,
) -> Result<Option<EpochMs>, UsageError> {
    let since = given_or_none("--since", text, now_ms)?;
    let millis = since.and_then(|since| to_millis(&since));
    let millis = millis.and_then(|millis| u64::try_from(millis).ok());
    Ok(millis.map(EpochMs))
}

/// Epoch milliseconds of `2026-01-31T12:00:00Z`, of `2026-01-31` in UTC, or as they are.
pub(crate) fn to_millis(text: &str) -> Option<i64> {
    if let Ok(millis) = text.parse() {
        return Some(millis);
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Some(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis());
    }
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    Some(time.timestamp_millis())
}

pub(crate) fn now_ms() -> EpochMs {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    EpochMs::default() + since_epoch.unwrap_or_default()
}

fn unknown() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_ago_is_counted_back_from_now() {
        let given = |text| given("--until", text, EpochMs(1_767_225_600_000));
        assert_eq!(given("1h").unwrap(), "1767222000000");
        assert_eq!(given("2026-01-31").unwrap(), "2026-01-31");
        assert_eq!(given("1767222000000").unwrap(), "1767222000000");
        for wrong in ["noon", "-1", "1969-12-31", ""] {
            let told = given(wrong).unwrap_err().to_string();
            let beginning = format!("--until {wrong} is no time: write 90s");
            assert!(told.starts_with(&beginning), "{told}");
        }
    }

    #[test]
    fn times_are_given_in_several_forms() {
        for (text, millis) in [
            ("1970-01-02", Some(86_400_000)),
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("1767225600000", Some(1_767_225_600_000)),
            ("noon", None),
        ] {
            assert_eq!(to_millis(text), millis, "{text}");
        }
    }

    #[test]
    fn an_age_has_one_unit() {
        let now = EpochMs(1_767_225_600_000);
        for (ago, told) in [
            (0, "0 s ago"),
            (59, "59 s ago"),
            (61, "1 min ago"),
            (3_600, "1 h ago"),
            (100_000, "27 h ago"),
            (172_800, "2 d ago"),
            (-90, "in 1 min"),
        ] {
            assert_eq!(age(1_767_225_600_000 - ago * 1000, now), told);
        }
    }

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
