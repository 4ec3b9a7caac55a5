//! The filter of deliveries as the address of a page has it, and as its forms send it along.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use headwater_model::{
    duration,
    id::{EmitterId, EventId, WebhookId},
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};
use headwater_platform::DeliveryFilter;
use serde::{Deserialize, Serialize};

/// The states that lists are filtered by, with their names.
pub(crate) const STATES: [(&str, &str, DeliveryState); 4] = [
    ("pending", "Pending", DeliveryState::Pending),
    ("dead", "Dead", DeliveryState::Dead),
    ("delivered", "Delivered", DeliveryState::Delivered),
    ("discarded", "Discarded", DeliveryState::Discarded),
];
/// The answers that lists are filtered by.
pub(crate) const ANSWERS: [&str; 9] = [
    "2xx", "3xx", "4xx", "5xx", "timeout", "dns", "tls", "refused", "blocked",
];

/// The parameters; empty ones filter nothing, and so do those that cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) state: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) webhook: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) emitter: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) event: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) answer: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) since: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) until: String,
}

impl Wanted {
    /// The filter that they mean.
    pub(crate) fn filter(&self, now_ms: EpochMs) -> DeliveryFilter {
        let state = STATES.iter().find(|(value, _, _)| *value == self.state);
        DeliveryFilter {
            state: state.map(|(_, _, state)| *state),
            webhook_id: self.webhook.parse::<WebhookId>().ok(),
            emitter: self.emitter.parse::<EmitterId>().ok(),
            event: self.event.parse::<EventId>().ok(),
            answer: self.answer.parse::<AnswerKind>().ok(),
            since_ms: moment(&self.since, now_ms),
            until_ms: moment(&self.until, now_ms),
        }
    }

    /// The same with spans of time as moments: the question before a change and the change mean the same deliveries.
    pub(crate) fn at(mut self, now_ms: EpochMs) -> Self {
        for time in [&mut self.since, &mut self.until] {
            if let Some(moment) = moment(time, now_ms) {
                *time = moment.to_string();
            }
        }
        self
    }

    /// The fields of a form that sends them along.
    pub(crate) fn fields(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("state", self.state.as_str()),
            ("webhook", &self.webhook),
            ("emitter", &self.emitter),
            ("event", &self.event),
            ("answer", &self.answer),
            ("since", &self.since),
            ("until", &self.until),
        ];
        all.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }
}

/// A moment as people write it: a time before now such as `24h`, a day or a time in UTC, or epoch milliseconds.
fn moment(text: &str, now_ms: EpochMs) -> Option<EpochMs> {
    if let Some(ago) = duration::parse(text) {
        return Some(now_ms.minus(ago));
    }
    if let Ok(ms) = text.parse() {
        return Some(EpochMs(ms));
    }
    let of = |time: DateTime<Utc>| u64::try_from(time.timestamp_millis()).ok().map(EpochMs);
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return of(time.to_utc());
    }
    // As the browser's field has it.
    if let Ok(time) = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M") {
        return of(time.and_utc());
    }
    let day = text.parse::<NaiveDate>().ok()?;
    of(day.and_time(NaiveTime::MIN).and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = EpochMs(1_800_000_000_000);

    #[test]
    fn every_choice_is_a_filter() {
        for answer in ANSWERS {
            let wanted = Wanted {
                answer: answer.to_owned(),
                ..Wanted::default()
            };
            assert!(wanted.filter(NOW).answer.is_some(), "{answer}");
        }
        for (value, _, state) in STATES {
            let wanted = Wanted {
                state: value.to_owned(),
                ..Wanted::default()
            };
            assert_eq!(wanted.filter(NOW).state, Some(state));
            assert_eq!(wanted.fields(), [("state", value)]);
        }
        let nonsense = Wanted {
            state: "x".to_owned(),
            webhook: "x".to_owned(),
            ..Wanted::default()
        };
        assert_eq!(nonsense.filter(NOW), DeliveryFilter::default());
    }

    #[test]
    fn moments_are_written_in_several_ways() {
        let day = EpochMs(1_769_817_600_000);
        for (text, expected) in [
            ("1h", Some(NOW.minus(std::time::Duration::from_hours(1)))),
            ("1769817600000", Some(day)),
            ("2026-01-31", Some(day)),
            ("2026-01-31T00:00", Some(day)),
            ("2026-01-31T01:00:00+01:00", Some(day)),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(moment(text, NOW), expected, "{text}");
        }
        let wanted = Wanted {
            since: "1h".to_owned(),
            until: "never".to_owned(),
            ..Wanted::default()
        };
        let filter = wanted.filter(NOW);
        assert!(filter.since_ms.is_some() && filter.until_ms.is_none());
        let later = NOW + std::time::Duration::from_hours(1);
        assert_eq!(wanted.at(NOW).filter(later), filter, "it does not move on");
    }
}
