//! Time spans and moments as people and expressions write them.
//!
//! Not responsible for the clock, nor for how long is too long.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use headwater_model::{duration, time::EpochMs};
use serde_json::Value;

/// Forms of a moment without a time zone, which are in UTC.
const LOCAL_FORMS: [&str; 4] = [
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
];

/// A time span: `30s`, `5m`, `2h`, `7d`, `1w`, `500ms`, or milliseconds as a number or as the text of one.
pub fn span(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            let ms = text.parse().ok().map(Duration::from_millis);
            ms.or_else(|| duration::parse(text))
        }
        value => milliseconds(value).map(Duration::from_millis),
    }
}

/// A moment: a date text (ISO 8601, without a zone in UTC), or epoch milliseconds as a number or as the text of one.
pub fn moment(value: &Value) -> Option<EpochMs> {
    let ms = match value {
        Value::String(text) => {
            let text = text.trim();
            match text.parse().ok() {
                Some(ms) => ms,
                None => u64::try_from(date_ms(text)?).ok()?,
            }
        }
        value => milliseconds(value)?,
    };
    Some(EpochMs(ms))
}

/// A number that is not negative, without its fraction.
fn milliseconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| *number >= 0.0)?;
        // The text of a whole number is exact, and refuses what a cast would bend.
        format!("{:.0}", number.trunc()).parse().ok()
    })
}

fn date_ms(text: &str) -> Option<i64> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(moment.timestamp_millis());
    }
    let mut forms = LOCAL_FORMS.iter();
    let local = forms.find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let local = local.or_else(|| {
        let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        day.and_hms_opt(0, 0, 0)
    })?;
    Some(local.and_utc().timestamp_millis())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_span_has_a_unit_or_is_in_milliseconds() {
        for (value, ms) in [
            (json!("30s"), 30_000),
            (json!(" 5m "), 300_000),
            (json!("7d"), 604_800_000),
            (json!(1500), 1500),
            (json!(1500.9), 1500),
            (json!("1500"), 1500),
            (json!(0), 0),
        ] {
            assert_eq!(span(&value), Some(Duration::from_millis(ms)), "{value}");
        }
        for value in [
            json!("soon"),
            json!(-1),
            json!(1e300),
            json!(null),
            json!([1]),
            json!(true),
        ] {
            assert_eq!(span(&value), None, "{value}");
        }
    }

    #[test]
    fn a_moment_is_a_date_or_in_epoch_milliseconds() {
        for (value, ms) in [
            (json!("1970-01-02T00:00:00Z"), 86_400_000),
            (json!("1970-01-01T02:00:00.5+01:00"), 3_600_500),
            (json!("1970-01-02"), 86_400_000),
            (json!("1970-01-01T00:01"), 60_000),
            (json!("1970-01-01 00:00:01"), 1000),
            (json!(1500), 1500),
            (json!("1500"), 1500),
        ] {
            assert_eq!(moment(&value), Some(EpochMs(ms)), "{value}");
        }
        for value in [
            json!("tomorrow"),
            json!("1969-12-31"),
            json!(-1),
            json!(null),
            json!("1970-13-01"),
        ] {
            assert_eq!(moment(&value), None, "{value}");
        }
    }
}
