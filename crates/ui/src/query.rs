//! The state of pages, which is in their addresses: pages of lists, filters, and addresses with one part changed.

use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use headwater_model::{
    duration,
    error::Invalid,
    page::{PageRequest, Position},
    time::EpochMs,
};
use headwater_platform::PlatformError;
use url::form_urlencoded::{self, Serializer};

use crate::{
    part::{text, time},
    visit::Visit,
};

/// Rows of a page.
pub(crate) const ROWS: u32 = 50;

impl Visit {
    /// The page of a list that the address asks for. A cursor that cannot be read counts as none.
    pub(crate) fn page_request<C: FromStr>(&self) -> PageRequest<C> {
        let cursor = |name: &str| self.parameter(name).and_then(|text| text.parse().ok());
        let position = match (cursor("after"), cursor("before")) {
            (Some(after), _) => Position::After(after),
            (None, Some(before)) => Position::Before(before),
            (None, None) => Position::First,
        };
        PageRequest {
            limit: ROWS,
            position,
        }
    }

    /// The address of this page with parameters changed; `None` takes one away. A list begins anew.
    pub(crate) fn with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let (path, query) = self
            .location
            .split_once('?')
            .unwrap_or((&self.location, ""));
        let mut serializer = Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_changed = changes.iter().any(|(changed, _)| *changed == name);
            if !is_changed && !matches!(name.as_ref(), "after" | "before") && !value.is_empty() {
                serializer.append_pair(&name, &value);
            }
        }
        for (name, value) in changes {
            if let Some(value) = value {
                serializer.append_pair(name, value);
            }
        }
        match serializer.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    /// The address of a list, in the same workspace, with the things of one state.
    pub(crate) fn with_state(&self, path: &str, state: &str) -> String {
        match &self.workspace {
            Some(id) => format!("{path}?workspace={id}&state={state}"),
            None => format!("{path}?state={state}"),
        }
    }

    /// The address of another page, in the same workspace.
    pub(crate) fn to(&self, path: &str) -> String {
        match &self.workspace {
            Some(id) => format!("{path}?workspace={id}"),
            None => path.to_owned(),
        }
    }
}

/// The form of a [`moment`], for those whose text is none.
pub(crate) const TIME: &str = "a time: write one such as 24h, 2026-01-31 or 2026-01-31T12:00:00Z";

/// The value of a parameter, unless it is empty.
///
/// # Errors
/// `Invalid` names a parameter that is not as expected.
pub(crate) fn read<T>(
    (name, text): (&str, &str),
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, PlatformError> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = || {
        let shown = text::visible(text);
        let reason = format!("`{name}`: `{shown}` is not {expected}");
        PlatformError::Invalid(Invalid::new(name, reason))
    };
    parse(text).map(Some).ok_or_else(invalid)
}

/// The first millisecond that a [`moment`] means.
pub(crate) fn since(text: &str, now_ms: EpochMs) -> Option<EpochMs> {
    moment(text, now_ms).map(|(first, _)| first)
}

/// The last millisecond that a [`moment`] means.
pub(crate) fn until(text: &str, now_ms: EpochMs) -> Option<EpochMs> {
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
        let minute = NaiveDateTime::parse_from_str(text, time::MINUTE).ok()?;
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
