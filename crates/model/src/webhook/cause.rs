//! The reason why an attempt is made.

use serde::{Deserialize, Serialize};

use crate::time::EpochMs;

/// The reason why an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptCause {
    /// The event came, or is sent again to a webhook that had no delivery of it.
    Event,
    /// The attempt before failed, and the time until the next one has passed.
    Retry,
    /// Somebody asked for it: retried or replayed the delivery, or sent one event or a sample.
    Manual,
}

impl AttemptCause {
    /// The reason for the next attempt of a delivery that is due at that moment (0: at once), after so many attempts since
    /// it was dispatched, or replayed if it is made `again`.
    pub fn of_next(due_ms: EpochMs, attempts: u32, again: bool) -> Self {
        match (due_ms, attempts) {
            (EpochMs(1..), _) => Self::Retry,
            (EpochMs(0), 0) if !again => Self::Event,
            (EpochMs(0), _) => Self::Manual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_that_is_due_at_once_was_dispatched_or_asked_for() {
        for (due_ms, attempts, again, expected) in [
            (0, 0, false, AttemptCause::Event),
            (0, 0, true, AttemptCause::Manual),
            (0, 2, false, AttemptCause::Manual),
            (7, 2, false, AttemptCause::Retry),
            (7, 1, true, AttemptCause::Retry),
        ] {
            let found = AttemptCause::of_next(EpochMs(due_ms), attempts, again);
            assert_eq!(found, expected, "{due_ms} {attempts} {again}");
        }
    }
}
