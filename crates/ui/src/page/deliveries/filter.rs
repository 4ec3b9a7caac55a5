//! The filter of deliveries as the address of a page has it, and as its forms send it along.

use headwater_model::{
    event_search::EventMatcher,
    id::{EmitterId, EventId, WebhookId, WorkspaceId},
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};
use headwater_platform::{DeliveryFilter, PlatformError};
use serde::{Deserialize, Serialize};

use crate::{
    part::code::quoted,
    query::{TIME, read, since, until},
};

/// The states that lists are filtered by, with their names.
pub(crate) const STATES: [(&str, &str, DeliveryState); 4] = [
    ("pending", "Pending", DeliveryState::Pending),
    ("dead", "Dead", DeliveryState::Dead),
    ("delivered", "Delivered", DeliveryState::Delivered),
    ("discarded", "Discarded", DeliveryState::Discarded),
];
/// The state of the address that means all of them.
pub(crate) const ANY: &str = "any";
/// The states that the list shows at first: what may need somebody.
pub(crate) const FIRST: [DeliveryState; 2] = [DeliveryState::Pending, DeliveryState::Dead];
/// The answers that lists are filtered by.
pub(crate) const ANSWERS: [&str; 10] = [
    "2xx", "3xx", "4xx", "5xx", "timeout", "dns", "tls", "refused", "blocked", "broken",
];

/// The parameters; empty ones filter nothing, but for the state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) state: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) workspace: String,
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
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) q: String,
}

impl Wanted {
    /// The filter that they mean.
    ///
    /// # Errors
    /// `Invalid` names the parameter that cannot be read: without it, acts on all that are found would reach too far.
    pub(crate) fn filter(&self, now_ms: EpochMs) -> Result<DeliveryFilter, PlatformError> {
        let workspace = ("workspace", self.workspace.as_str());
        Ok(DeliveryFilter {
            ids: Vec::new(),
            states: self.states()?,
            workspace_id: read(workspace, "the id of a workspace", |text| {
                text.parse::<WorkspaceId>().ok()
            })?,
            webhook_id: read(("webhook", &self.webhook), "the id of a webhook", |text| {
                text.parse::<WebhookId>().ok()
            })?,
            emitter: read(
                ("emitter", &self.emitter),
                "the id of a source or workflow",
                |text| text.parse::<EmitterId>().ok(),
            )?,
            event: read(("event", &self.event), "the id of an event", |text| {
                text.parse::<EventId>().ok()
            })?,
            answer: read(("answer", &self.answer), "a kind of answer", |text| {
                text.parse::<AnswerKind>().ok()
            })?,
            since_ms: read(("since", &self.since), TIME, |text| since(text, now_ms))?,
            until_ms: read(("until", &self.until), TIME, |text| until(text, now_ms))?,
            matcher: EventMatcher::new(&self.q, &[]).map_err(PlatformError::Invalid)?,
        })
    }

    /// The states that they mean, separated by commas in the address; none: all of them.
    fn states(&self) -> Result<Vec<DeliveryState>, PlatformError> {
        let state = |text: &str| {
            let found = STATES.iter().find(|(value, _, _)| *value == text);
            found.map(|(_, _, state)| *state)
        };
        match self.state.as_str() {
            "" => Ok(FIRST.to_vec()),
            ANY => Ok(Vec::new()),
            words => {
                let states = words.split(',').map(str::trim);
                let states =
                    states.map(|word| read(("state", word), "a state of deliveries", state));
                let states: Vec<_> = states.collect::<Result<_, _>>()?;
                Ok(states.into_iter().flatten().collect())
            }
        }
    }

    /// The same for an act on all that are found, which names its states: those of the first view, unless others were chosen.
    pub(crate) fn for_act(&self) -> Self {
        let state = match self.state.as_str() {
            "" | ANY => "pending,dead".to_owned(),
            state => state.to_owned(),
        };
        Self {
            state,
            ..self.clone()
        }
    }

    /// Whether anything but the state and the workspace filters.
    pub(crate) fn narrows(&self) -> bool {
        let rest = Self {
            state: String::new(),
            workspace: String::new(),
            ..self.clone()
        };
        rest != Self::default()
    }

    /// The same with spans of time as moments: the question before a change and the change mean the same deliveries.
    pub(crate) fn at(mut self, now_ms: EpochMs) -> Self {
        if let Some(since) = since(&self.since, now_ms) {
            self.since = since.to_string();
        }
        if let Some(until) = until(&self.until, now_ms) {
            self.until = until.to_string();
        }
        self
    }

    /// The fields of a form that sends them along.
    pub(crate) fn fields(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("state", self.state.as_str()),
            ("workspace", &self.workspace),
            ("webhook", &self.webhook),
            ("emitter", &self.emitter),
            ("event", &self.event),
            ("answer", &self.answer),
            ("since", &self.since),
            ("until", &self.until),
            ("q", &self.q),
        ];
        all.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }

    /// The same as flags of commands, in these states, without the webhook.
    pub(super) fn flags(&self, states: &str) -> String {
        let flags = [
            ("state", states),
            ("workspace", &self.workspace),
            ("source", &self.emitter),
            ("event", &self.event),
            ("status", &self.answer),
            ("since", &self.since),
            ("until", &self.until),
            ("query", &self.q),
        ];
        let flags = flags.iter().filter(|(_, value)| !value.is_empty());
        flags
            .map(|(flag, value)| format!(" --{flag} {}", quoted(value)))
            .collect()
    }
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
            assert!(wanted.filter(NOW).unwrap().answer.is_some(), "{answer}");
        }
        for (value, _, state) in STATES {
            let wanted = Wanted {
                state: value.to_owned(),
                ..Wanted::default()
            };
            assert_eq!(wanted.filter(NOW).unwrap().states, [state]);
            assert_eq!(wanted.fields(), [("state", value)]);
            assert_eq!(wanted.for_act(), wanted);
        }
        let first = Wanted::default();
        assert_eq!(first.filter(NOW).unwrap().states, FIRST);
        assert_eq!(first.for_act().filter(NOW).unwrap().states, FIRST);
        let any = Wanted {
            state: ANY.to_owned(),
            ..first
        };
        assert_eq!(any.filter(NOW).unwrap().states, []);
        assert_eq!(any.for_act().filter(NOW).unwrap().states, FIRST);
        assert!(!any.narrows());
    }

    #[test]
    fn every_parameter_goes_along() {
        let every = [
            "state",
            "workspace",
            "webhook",
            "emitter",
            "event",
            "answer",
            "since",
            "until",
            "q",
        ];
        let pairs = every.iter().map(|name| ((*name).to_owned(), "x".into()));
        let wanted: Wanted =
            serde_json::from_value(serde_json::Value::Object(pairs.collect())).unwrap();
        let sent: Vec<_> = wanted.fields().iter().map(|(name, _)| *name).collect();
        assert_eq!(sent, every);
        assert!(wanted.narrows());
    }

    #[test]
    fn a_parameter_that_cannot_be_read_is_no_filter_of_everything() {
        for name in [
            "state",
            "workspace",
            "webhook",
            "emitter",
            "event",
            "answer",
            "since",
            "until",
        ] {
            let wanted: Wanted = serde_json::from_value(serde_json::json!({name: "x"})).unwrap();
            let error = wanted.filter(NOW).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains("`x` is not"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_span_of_time_does_not_move_on() {
        let wanted = Wanted {
            since: "1h".to_owned(),
            until: "2026-01-31".to_owned(),
            ..Wanted::default()
        };
        let filter = wanted.filter(NOW).unwrap();
        assert_eq!(
            filter.until_ms,
            Some(EpochMs(1_769_903_999_999)),
            "the whole day"
        );
        let later = NOW + std::time::Duration::from_hours(1);
        assert_eq!(wanted.at(NOW).filter(later).unwrap(), filter);
    }
}
