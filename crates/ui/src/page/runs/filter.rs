//! The filter of runs as the address of the page has it, and as its form sends it along.

use headwater_model::{
    id::{RunnableId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{RunSearchFilter, RunState, RunStates, RunTrigger};
use serde::Deserialize;

use crate::{
    part::time,
    query::{since, until},
};

/// The chips: their values in the address, and the states that they mean. No value: those that need somebody.
pub(super) const CHIPS: [(Option<&str>, &str); 6] = [
    (None, "Failed and under way"),
    (Some("open"), "Under way"),
    (Some("failed"), "Failed"),
    (Some("succeeded"), "Ok"),
    (Some("cancelled"), "Cancelled"),
    (Some("any"), "All"),
];
/// The states of the first chip.
const UNASKED: [(&str, RunState); 2] = [("open", RunState::Open), ("failed", RunState::Failed)];
/// The causes that lists are filtered by.
pub(super) const TRIGGERS: [(&str, RunTrigger); 10] = [
    ("timer", RunTrigger::Timer),
    ("http", RunTrigger::Http),
    ("event", RunTrigger::Event),
    ("manual", RunTrigger::Manual),
    ("email", RunTrigger::Email),
    ("call", RunTrigger::Call),
    ("replay", RunTrigger::Replay),
    ("deploy", RunTrigger::Deploy),
    ("activate", RunTrigger::Activate),
    ("deactivate", RunTrigger::Deactivate),
];
/// The least times that lists are filtered by, in milliseconds.
pub(super) const LEAST: [(u64, &str); 5] = [
    (100, "0.1 s"),
    (1_000, "1 s"),
    (10_000, "10 s"),
    (60_000, "1 min"),
    (3_600_000, "1 h"),
];

/// The parameters; empty ones filter nothing, and so do those that cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    pub(super) emitter: String,
    #[serde(default)]
    pub(super) trigger: String,
    #[serde(default)]
    pub(super) since: String,
    #[serde(default)]
    pub(super) until: String,
    #[serde(default)]
    pub(super) min_ms: String,
    #[serde(default)]
    pub(super) q: String,
    #[serde(default)]
    pub(super) origin: String,
}

impl Wanted {
    /// The filter that they mean, in whatever state the runs are.
    pub(super) fn in_any_state(
        &self,
        workspace_id: Option<WorkspaceId>,
        now_ms: EpochMs,
    ) -> RunSearchFilter {
        let mut triggers = TRIGGERS.iter();
        let trigger = triggers.find(|(value, _)| *value == self.trigger);
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        RunSearchFilter {
            states: None,
            workspace_id,
            runnable: self.emitter.trim().parse::<RunnableId>().ok(),
            trigger: trigger.map(|(_, trigger)| *trigger),
            since_ms: since(&self.since, now_ms),
            until_ms: until(&self.until, now_ms),
            min_ms: self.min_ms.trim().parse().ok(),
            words: given(&self.q),
            origin: given(&self.origin),
        }
    }

    /// The states that they mean; `None`: all of them.
    pub(super) fn states(&self) -> Option<RunStates> {
        let named = self.named_states()?;
        let states: Vec<_> = named.into_iter().map(|(_, state)| state).collect();
        Some(RunState::together(&states))
    }

    /// The states that they mean, with their names; `None`: all of them.
    fn named_states(&self) -> Option<Vec<(&str, RunState)>> {
        if self.status == "any" {
            return None;
        }
        let names = self.status.split(',').map(str::trim);
        let known = names.filter_map(|name| Some((name, name.parse().ok()?)));
        let known: Vec<_> = known.collect();
        Some(match known.is_empty() {
            true => UNASKED.to_vec(),
            false => known,
        })
    }

    /// The filter as names and values of the API, the source or workflow first.
    pub(super) fn asked(&self, filter: RunSearchFilter) -> Vec<(&'static str, String)> {
        let status = self.named_states().map(|named| {
            let names: Vec<&str> = named.into_iter().map(|(name, _)| name).collect();
            names.join(",")
        });
        let runnable = filter.runnable.map(|id| match id {
            RunnableId::Source(id) => ("source_id", id.to_string()),
            RunnableId::Workflow(id) => ("workflow_id", id.to_string()),
        });
        let moment = |moment: Option<EpochMs>| moment.map(|moment| moment.0.to_string());
        let others = [
            ("workspace_id", filter.workspace_id.map(|id| id.to_string())),
            ("status", status),
            ("trigger", filter.trigger.map(|_| self.trigger.clone())),
            ("since", moment(filter.since_ms)),
            ("until", moment(filter.until_ms)),
            ("min_ms", filter.min_ms.map(|ms| ms.to_string())),
            ("q", filter.words),
            ("origin", filter.origin),
        ];
        let others = others.into_iter();
        let given = others.filter_map(|(name, value)| Some((name, value?)));
        runnable.into_iter().chain(given).collect()
    }

    /// Whether anything but the state filters.
    pub(super) fn narrows(&self, now_ms: EpochMs) -> bool {
        self.in_any_state(None, now_ms) != RunSearchFilter::default()
    }
}

/// A moment of the address as the form shows it; nothing if it cannot be read.
pub(super) fn minute_of(text: &str, now_ms: EpochMs) -> String {
    since(text, now_ms).map_or_else(String::new, time::minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = EpochMs(1_800_000_000_000);

    #[test]
    fn every_choice_is_a_filter() {
        for (value, trigger) in TRIGGERS {
            let wanted = Wanted {
                trigger: value.to_owned(),
                ..Wanted::default()
            };
            assert_eq!(wanted.in_any_state(None, NOW).trigger, Some(trigger));
            assert!(wanted.narrows(NOW));
        }
        for (value, _) in CHIPS {
            let wanted = Wanted {
                status: value.unwrap_or_default().to_owned(),
                ..Wanted::default()
            };
            assert_eq!(wanted.states().is_none(), value == Some("any"), "{value:?}");
            assert!(!wanted.narrows(NOW));
        }
        let nonsense = Wanted {
            status: "x".to_owned(),
            emitter: "x".to_owned(),
            trigger: "x".to_owned(),
            since: "x".to_owned(),
            until: "x".to_owned(),
            min_ms: "x".to_owned(),
            q: " ".to_owned(),
            origin: " ".to_owned(),
        };
        assert!(!nonsense.narrows(NOW));
        let asked = |wanted: &Wanted| wanted.asked(wanted.in_any_state(None, NOW));
        assert_eq!(asked(&nonsense), [("status", "open,failed".to_owned())]);
        let one_known = Wanted {
            status: "failed, x".to_owned(),
            ..Wanted::default()
        };
        assert_eq!(asked(&one_known), [("status", "failed".to_owned())]);
        assert_eq!(nonsense.states(), Wanted::default().states());
    }

    #[test]
    fn a_minute_is_meant_whole() {
        let wanted = Wanted {
            since: "1970-01-01T00:02".to_owned(),
            until: "1970-01-01T00:02".to_owned(),
            ..Wanted::default()
        };
        let filter = wanted.in_any_state(None, NOW);
        assert_eq!(filter.since_ms, Some(EpochMs(120_000)));
        assert_eq!(filter.until_ms, Some(EpochMs(179_999)));
        assert_eq!(minute_of("1970-01-01T00:02:07Z", NOW), "1970-01-01T00:02");
        assert_eq!(minute_of("yesterday", NOW), "");
    }
}
