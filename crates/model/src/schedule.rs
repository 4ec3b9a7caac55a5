//! The times at which a timer fires (docs/decisions/0008-interval-timers.md).

use std::{str::FromStr, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use croner::Cron;
use serde_json::{Value, json};

use crate::{error::Invalid, time::EpochMs};

/// A timer without a value and without a default: 15 minutes.
const DEFAULT_INTERVAL_SECONDS: u64 = 15 * 60;
/// Ten years: nobody means more, and sums of it cannot overflow.
const MAX_INTERVAL_SECONDS: u64 = 10 * 366 * 24 * 3600;

/// A fixed interval, or a cron expression in a time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// Every so many seconds, counted from activation.
    Interval {
        /// At least 1.
        seconds: u64,
    },
    /// At the times that the expression matches.
    Cron {
        /// Five fields, or six with seconds first.
        expression: String,
        /// An IANA name.
        timezone: String,
    },
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Interval {
            seconds: DEFAULT_INTERVAL_SECONDS,
        }
    }
}

impl Schedule {
    /// Reads `{intervalSeconds | interval_seconds}` or `{cron, timezone?}`.
    ///
    /// # Errors
    /// Names the field that is wrong.
    pub fn parse(value: &Value) -> Result<Self, Invalid> {
        let field = |name: &str| value.get(name).filter(|value| !value.is_null());
        if !value.is_object() {
            return Err(Invalid::new(
                "",
                "expected {\"interval_seconds\": 60} or {\"cron\": \"0 9 * * *\"}",
            ));
        }
        match (
            field("cron"),
            field("intervalSeconds").or_else(|| field("interval_seconds")),
        ) {
            (Some(cron), _) => Self::parse_cron(cron, field("timezone")),
            (None, Some(seconds)) => Self::parse_interval(seconds),
            (None, None) => Err(Invalid::new("", "give `interval_seconds` or `cron`")),
        }
    }

    fn parse_interval(value: &Value) -> Result<Self, Invalid> {
        let seconds = value
            .as_u64()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        match seconds {
            Some(seconds @ 1..=MAX_INTERVAL_SECONDS) => Ok(Self::Interval { seconds }),
            _ => Err(Invalid::new(
                "interval_seconds",
                format!("expected an integer from 1 to {MAX_INTERVAL_SECONDS}"),
            )),
        }
    }

    fn parse_cron(cron: &Value, timezone: Option<&Value>) -> Result<Self, Invalid> {
        let expression = cron
            .as_str()
            .ok_or_else(|| Invalid::new("cron", "expected a string"))?;
        parse_expression(expression).map_err(|reason| {
            Invalid::new(
                "cron",
                format!("`{expression}` is not a cron expression: {reason}"),
            )
        })?;
        let timezone = match timezone {
            None => "UTC",
            Some(name) => name
                .as_str()
                .ok_or_else(|| Invalid::new("timezone", "expected a string"))?,
        };
        Tz::from_str(timezone).map_err(|_| {
            Invalid::new(
                "timezone",
                format!("`{timezone}` is not an IANA time zone such as Europe/Vienna"),
            )
        })?;
        Ok(Self::Cron {
            expression: expression.to_owned(),
            timezone: timezone.to_owned(),
        })
    }

    /// `{cron, interval_seconds}` as responses show it, with `timezone` beside a cron expression.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Interval { seconds } => json!({ "cron": null, "interval_seconds": seconds }),
            Self::Cron {
                expression,
                timezone,
            } => {
                json!({ "cron": expression, "interval_seconds": null, "timezone": timezone })
            }
        }
    }

    /// The event of the tick that was due at `due_ms`; `timestamp` is in seconds.
    pub fn tick_event(&self, due_ms: EpochMs) -> Value {
        let timestamp = due_ms.to_seconds();
        match self {
            Self::Interval { seconds } => {
                json!({ "timestamp": timestamp, "interval_seconds": seconds })
            }
            Self::Cron {
                expression,
                timezone,
            } => {
                json!({ "timestamp": timestamp, "cron": expression, "timezone": timezone })
            }
        }
    }

    /// The event of such a tick as a workflow has it: with the moment in UTC, and in the zone of the schedule.
    pub fn workflow_tick_event(&self, due_ms: EpochMs) -> Value {
        let (seconds, expression, timezone) = match self {
            Self::Interval { seconds } => (Some(*seconds), None, Tz::UTC),
            Self::Cron {
                expression,
                timezone,
            } => (
                None,
                Some(expression),
                Tz::from_str(timezone).unwrap_or(Tz::UTC),
            ),
        };
        let due = i64::try_from(due_ms.0).ok();
        let due = due
            .and_then(DateTime::<Utc>::from_timestamp_millis)
            .unwrap_or_default();
        json!({
            "timestamp": due_ms.to_seconds(),
            "interval_seconds": seconds,
            "cron": expression,
            "timezone_configured": in_zone(due, timezone),
            "timezone_utc": in_zone(due, Tz::UTC),
        })
    }

    /// The first tick of a timer that is activated now.
    pub fn first_after(&self, now_ms: EpochMs) -> Option<EpochMs> {
        self.next_after(now_ms, now_ms)
    }

    /// The tick after the one due at `due_ms`: later than `now_ms`, in phase, so that ticks missed
    /// while the node was down are one catch-up tick and not a storm. `None`: it never fires again.
    pub fn next_after(&self, due_ms: EpochMs, now_ms: EpochMs) -> Option<EpochMs> {
        match self {
            Self::Interval { seconds } => {
                let missed = now_ms.since(due_ms).as_secs() / seconds;
                Some(due_ms + Duration::from_secs((missed + 1) * seconds))
            }
            Self::Cron {
                expression,
                timezone,
            } => {
                let cron = parse_expression(expression).ok()?;
                let zone = Tz::from_str(timezone).ok()?;
                let from = DateTime::<Utc>::from_timestamp_millis(
                    i64::try_from(now_ms.max(due_ms).0).ok()?,
                )?;
                let next = cron
                    .find_next_occurrence(&from.with_timezone(&zone), false)
                    .ok()?;
                u64::try_from(next.timestamp_millis()).ok().map(EpochMs)
            }
        }
    }
}

/// A moment for people, in a time zone.
fn in_zone(moment: DateTime<Utc>, timezone: Tz) -> Value {
    let moment = moment.with_timezone(&timezone);
    let text = |format: &str| moment.format(format).to_string();
    json!({
        "timezone": timezone.name(),
        "iso8601": moment.to_rfc3339_opts(SecondsFormat::Secs, true),
        "date": text("%Y-%m-%d"),
        "time": text("%H:%M:%S"),
        "weekday": text("%A"),
        "utc_offset": text("%:z"),
    })
}

fn parse_expression(expression: &str) -> Result<Cron, croner::errors::CronError> {
    use croner::parser::{CronParser, Seconds};
    CronParser::builder()
        .seconds(Seconds::Optional)
        .build()
        .parse(expression)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: EpochMs = EpochMs(60_000);

    fn cron(expression: &str, timezone: &str) -> Schedule {
        Schedule::parse(&json!({ "cron": expression, "timezone": timezone })).unwrap()
    }

    fn ms(text: &str) -> EpochMs {
        let ms = u64::try_from(
            DateTime::parse_from_rfc3339(text)
                .unwrap()
                .timestamp_millis(),
        );
        EpochMs(ms.unwrap())
    }

    #[test]
    fn cron_follows_its_time_zone_over_the_change_to_summer_time() {
        let daily = cron("30 9 * * *", "Europe/Vienna");
        assert_eq!(
            daily.first_after(ms("2026-03-28T00:00:00Z")),
            Some(ms("2026-03-28T08:30:00Z"))
        );
        assert_eq!(
            daily.first_after(ms("2026-03-29T00:00:00Z")),
            Some(ms("2026-03-29T07:30:00Z"))
        );
    }

    #[test]
    fn six_fields_have_seconds_first() {
        assert_eq!(
            cron("*/10 * * * * *", "UTC").first_after(MINUTE),
            Some(MINUTE + Duration::from_secs(10))
        );
    }

    #[test]
    fn an_impossible_date_never_fires() {
        assert_eq!(cron("0 0 30 2 *", "UTC").first_after(EpochMs(0)), None);
    }

    #[test]
    fn wrong_values_name_their_field() {
        for (value, field) in [
            (json!({}), ""),
            (json!("15m"), ""),
            (json!({"intervalSeconds": 0}), "interval_seconds"),
            (json!({"interval_seconds": -3}), "interval_seconds"),
            (json!({"cron": "61 * * * *"}), "cron"),
            (json!({"cron": 5}), "cron"),
            (json!({"cron": "* * * * *", "timezone": "Mars"}), "timezone"),
        ] {
            assert_eq!(Schedule::parse(&value).unwrap_err().field, field, "{value}");
        }
    }

    proptest! {
        #[test]
        fn an_interval_stays_in_phase_and_catches_up_once(seconds in 1u64..10_000, late_ms in 0u64..100_000_000) {
            let due_ms = EpochMs(1_000_000);
            let now_ms = due_ms + Duration::from_millis(late_ms);
            let next = Schedule::Interval { seconds }.next_after(due_ms, now_ms).unwrap();
            prop_assert!(next > now_ms);
            prop_assert!(next.since(now_ms) <= Duration::from_secs(seconds));
            prop_assert_eq!((next.0 - due_ms.0) % (seconds * 1000), 0);
        }
    }

    #[test]
    fn a_tick_of_a_workflow_tells_the_time_in_the_schedules_zone() {
        let schedule =
            Schedule::parse(&json!({ "cron": "0 9 * * *", "timezone": "Europe/Berlin" })).unwrap();
        let event = schedule.workflow_tick_event(EpochMs(1_785_999_600_000));
        assert_eq!(event["timestamp"], 1_785_999_600);
        assert_eq!(event["cron"], "0 9 * * *");
        assert_eq!(event["interval_seconds"], Value::Null);
        assert_eq!(
            event["timezone_configured"]["iso8601"],
            "2026-08-06T09:00:00+02:00"
        );
        assert_eq!(event["timezone_configured"]["timezone"], "Europe/Berlin");
        assert_eq!(event["timezone_utc"]["time"], "07:00:00");
        let event = Schedule::Interval { seconds: 60 }.workflow_tick_event(EpochMs(0));
        assert_eq!(event["interval_seconds"], 60);
        assert_eq!(event["timezone_configured"], event["timezone_utc"]);
    }
}
