//! The effects of a run that are to be committed.

use headwater_engine::{KvChange, LogLevel};
use headwater_model::{error::Invalid, event::Emit, outcome::ComponentError, time::EpochMs};

use super::map_size;
use crate::log_line::LogLine;

/// A log line of a run.
pub(crate) struct Logged {
    pub(crate) level: LogLevel,
    pub(crate) text: String,
    pub(crate) ts_ms: EpochMs,
}

impl From<&Logged> for LogLine {
    fn from(logged: &Logged) -> Self {
        Self {
            level: logged.level,
            message: logged.text.clone(),
            ts: logged.ts_ms,
        }
    }
}

/// The effects of a run since its last commit.
#[derive(Default)]
pub(crate) struct Effects {
    pub(crate) emits: Vec<Emit>,
    /// Each with its place among all writes of the source.
    pub(crate) kv: Vec<(u64, KvChange)>,
    pub(crate) logs: Vec<Logged>,
    /// `$emit` calls that broke a rule.
    pub(crate) rejected: Vec<Invalid>,
}

impl Effects {
    /// The place of its first key-value write.
    pub(super) fn first_write(&self) -> Option<u64> {
        self.kv.first().map(|(place, _)| *place)
    }

    /// Whether a commit would write nothing of it that others can see.
    pub(super) fn is_silent(&self) -> bool {
        self.emits.is_empty() && self.kv.is_empty() && self.rejected.is_empty()
    }
}

/// The error that calls of `$emit` and `db.set` amount to which broke a rule.
pub(super) fn broken_rules(rejected: &[Invalid]) -> Option<ComponentError> {
    let first = rejected.first()?;
    Some(ComponentError {
        name: match first.field == map_size::FIELD {
            true => "RangeError".to_owned(),
            false => "EmitError".to_owned(),
        },
        message: match rejected.len() {
            1 => first.reason.clone(),
            more => format!("{} ({more} calls)", first.reason),
        },
        ..ComponentError::default()
    })
}

/// The outcome of a run of a broken source.
pub(super) fn configuration_error(reason: &str) -> ComponentError {
    ComponentError {
        name: "ConfigurationError".to_owned(),
        message: reason.to_owned(),
        ..ComponentError::default()
    }
}
