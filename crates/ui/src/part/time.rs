//! Moments and spans for people: how long ago, with the moment itself at hand.

use std::time::Duration;

use chrono::DateTime;
use headwater_model::time::EpochMs;
use maud::{Markup, html};

/// The time since a moment, or until it. The script counts on.
pub(crate) fn ago(moment: EpochMs, now_ms: EpochMs) -> Markup {
    html! { time datetime=(iso(moment)) title=(utc(moment)) data-ago { (relative(moment, now_ms)) } }
}

/// A moment in the past or in the future, in words.
fn relative(moment: EpochMs, now_ms: EpochMs) -> String {
    match moment.0 > now_ms.0 {
        true => format!("in {}", span(moment.since(now_ms))),
        false => match now_ms.since(moment) {
            span if span < Duration::from_secs(1) => "now".to_owned(),
            time => format!("{} ago", span(time)),
        },
    }
}

/// The moment itself, to the millisecond.
pub(crate) fn exact(moment: EpochMs) -> Markup {
    html! { time datetime=(iso(moment)) data-exact { (utc(moment)) } }
}

/// The day of a moment (UTC).
pub(crate) fn date(moment: EpochMs) -> Markup {
    let day = day(moment);
    html! { time datetime=(day) { (day) } }
}

/// The day of a moment (UTC), to tell days apart.
pub(crate) fn day(moment: EpochMs) -> String {
    formatted(moment, "%Y-%m-%d")
}

/// The minute of a moment (UTC), as forms send it.
pub(crate) fn minute(moment: EpochMs) -> String {
    formatted(moment, headwater_model::moment::MINUTE)
}

/// The time of day of a moment (UTC).
pub(crate) fn clock(moment: EpochMs) -> String {
    formatted(moment, "%H:%M")
}

/// A span with its largest unit.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The time that something took.
pub(crate) fn took(span: Duration) -> String {
    match span.as_millis() {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..60_000 => format!("{:.1} s", ms as f64 / 1_000.0),
        ms @ 60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        ms @ 3_600_000..172_800_000 => {
            format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000)
        }
        ms => format!("{} d {} h", ms / 86_400_000, ms % 86_400_000 / 3_600_000),
    }
}

fn iso(moment: EpochMs) -> String {
    formatted(moment, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

fn utc(moment: EpochMs) -> String {
    formatted(moment, "%Y-%m-%d %H:%M:%S%.3f UTC")
}

fn formatted(moment: EpochMs, format: &str) -> String {
    let ms = i64::try_from(moment.0).unwrap_or(i64::MAX);
    match DateTime::from_timestamp_millis(ms) {
        Some(moment) => moment.format(format).to_string(),
        // Beyond the calendar.
        None => format!("{} ms", moment.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = EpochMs(1_700_000_000_000);

    #[test]
    fn moments_are_told_from_now() {
        for (moment, expected) in [
            (NOW, "now"),
            (NOW.minus(Duration::from_secs(59)), "59 s ago"),
            (NOW.minus(Duration::from_mins(59)), "59 min ago"),
            (NOW.minus(Duration::from_hours(47)), "47 h ago"),
            (NOW.minus(Duration::from_hours(48)), "2 d ago"),
            (NOW + Duration::from_mins(5), "in 5 min"),
        ] {
            assert_eq!(relative(moment, NOW), expected);
        }
        let shown = ago(NOW, NOW).into_string();
        assert!(shown.contains("2023-11-14T22:13:20.000Z"), "{shown}");
    }

    #[test]
    fn spans_have_their_unit() {
        assert_eq!(took(Duration::from_millis(999)), "999 ms");
        assert_eq!(took(Duration::from_millis(1_500)), "1.5 s");
        assert_eq!(took(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!(took(Duration::from_mins(125)), "2 h 5 min");
        assert_eq!(took(Duration::from_hours(50)), "2 d 2 h");
    }

    #[test]
    fn a_moment_beyond_the_calendar_is_a_number() {
        assert_eq!(utc(EpochMs(u64::MAX)), format!("{} ms", u64::MAX));
    }
}
