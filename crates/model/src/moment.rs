//! Moments as people and forms write them, in filters and in views.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

use crate::{duration, time::EpochMs};

/// The form of a moment, for those whose text is none.
pub const EXPECTED: &str = "a time: write one such as 24h, 2026-01-31 or 2026-01-31T12:00:00Z";
/// The format of a minute (UTC), as forms send it.
pub const MINUTE: &str = "%Y-%m-%dT%H:%M";

/// The first millisecond that a [`moment`] means.
pub fn since(text: &str, now_ms: EpochMs) -> Option<EpochMs> {
    moment(text, now_ms).map(|(first, _)| first)
}

/// The last millisecond that a [`moment`] means.
pub fn until(text: &str, now_ms: EpochMs) -> Option<EpochMs> {
    moment(text, now_ms).map(|(first, last_ms)| EpochMs(first.0 + last_ms))
}

/// A moment as people and forms write it: a time before now such as `24h`, a day, a minute or a time in UTC, or epoch
/// milliseconds; with the milliseconds behind it that are meant as well, as those of a day or a minute.
fn moment(text: &str, now_ms: EpochMs) -> Option<(EpochMs, u64)> {
    const MINUTE_MS: u64 = 60_000;
    const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
    let text = text.trim();
    if let Some(ago) = duration::parse(text) {
        return Some((now_ms.minus(ago), 0));
    }
    if let Ok(ms) = text.parse() {
        return Some((EpochMs(ms), 0));
    }
    let exact = || Some((DateTime::parse_from_rfc3339(text).ok()?.to_utc(), 0));
    let minute = || {
        let minute = NaiveDateTime::parse_from_str(text, MINUTE).ok()?;
        Some((minute.and_utc(), MINUTE_MS - 1))
    };
    let day = || {
        let day = text.parse::<NaiveDate>().ok()?;
        Some((day.and_time(NaiveTime::MIN).and_utc(), DAY_MS - 1))
    };
    let (moment, last_ms) = exact().or_else(minute).or_else(day)?;
    let ms = u64::try_from(moment.timestamp_millis()).ok()?;
    Some((EpochMs(ms), last_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_several_ways() {
        const NOW: EpochMs = EpochMs(1_800_000_000_000);
        let day = EpochMs(1_769_817_600_000);
        for (text, expected) in [
            (
                "1h",
                Some((NOW.minus(std::time::Duration::from_hours(1)), 0)),
            ),
            ("1769817600000", Some((day, 0))),
            ("2026-01-31", Some((day, 86_399_999))),
            ("2026-01-31T00:00", Some((day, 59_999))),
            (" 2026-01-31T01:00:00+01:00 ", Some((day, 0))),
            ("1969-01-01T00:00", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(moment(text, NOW), expected, "{text}");
        }
    }
}
