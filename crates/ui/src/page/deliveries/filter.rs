//! The filter of deliveries as the address of a page has it, and as its forms send it along.

use headwater_model::{
    id::{EmitterId, EventId, WebhookId},
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
}

impl Wanted {
    /// The filter that they mean.
    pub(crate) fn filter(&self) -> DeliveryFilter {
        let state = STATES.iter().find(|(value, _, _)| *value == self.state);
        DeliveryFilter {
            state: state.map(|(_, _, state)| *state),
            webhook_id: self.webhook.parse::<WebhookId>().ok(),
            emitter: self.emitter.parse::<EmitterId>().ok(),
            event: self.event.parse::<EventId>().ok(),
            answer: self.answer.parse::<AnswerKind>().ok(),
            ..DeliveryFilter::default()
        }
    }

    /// The fields of a form that sends them along.
    pub(crate) fn fields(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("state", self.state.as_str()),
            ("webhook", &self.webhook),
            ("emitter", &self.emitter),
            ("event", &self.event),
            ("answer", &self.answer),
        ];
        all.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_a_filter() {
        for answer in ANSWERS {
            let wanted = Wanted {
                answer: answer.to_owned(),
                ..Wanted::default()
            };
            assert!(wanted.filter().answer.is_some(), "{answer}");
        }
        for (value, _, state) in STATES {
            let wanted = Wanted {
                state: value.to_owned(),
                ..Wanted::default()
            };
            assert_eq!(wanted.filter().state, Some(state));
            assert_eq!(wanted.fields(), [("state", value)]);
        }
        let nonsense = Wanted {
            state: "x".to_owned(),
            webhook: "x".to_owned(),
            ..Wanted::default()
        };
        assert_eq!(nonsense.filter(), DeliveryFilter::default());
    }
}
