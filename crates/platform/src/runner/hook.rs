//! Hooks of a source as a change of its life calls them, and what is to be known of how they ended.
//!
//! Responsible for when a hook has failed, and for whether what a failed deployment began can be taken back. Not for running
//! them (`actor.rs`).

use headwater_engine::Hook;
use headwater_model::{
    dedupe::{self, Strategy},
    origin::Origin,
    outcome::Outcome,
};
use tokio::sync::oneshot;

use super::effects::{Effects, broken_rules, configuration_error};
use crate::error::PlatformError;

/// A hook to be called.
pub(crate) struct HookCall {
    pub(crate) hook: Hook,
    pub(crate) origin: Origin,
    /// Whether what it did is held back until `Settle`.
    pub(crate) hold: bool,
    pub(crate) ended: oneshot::Sender<HookEnded>,
}

/// How a hook ended.
pub(crate) struct HookEnded {
    pub(crate) outcome: Outcome,
    /// Whether it stored a value for later hooks to find.
    stored: bool,
}

impl HookEnded {
    /// Of a hook that the component does not have.
    pub(super) fn not_there() -> Self {
        Self {
            outcome: Outcome::Returned { value: None },
            stored: false,
        }
    }

    /// Of a hook that was not called because an account is gone or refused.
    pub(super) fn broken(reason: &str) -> Self {
        Self {
            outcome: Outcome::Threw {
                error: configuration_error(reason),
            },
            stored: false,
        }
    }

    /// Of a hook that was called. If what it did is held back, it has failed too when a call of `$emit` broke a rule: the
    /// event would be missing, and whoever deploys is there to be told.
    pub(super) fn of(
        outcome: Outcome,
        effects: &Effects,
        hold: bool,
        strategy: Option<Strategy>,
    ) -> Self {
        let stored = effects.kv.iter().any(|(_, change)| change.value.is_some());
        let mut rejected = effects.rejected.clone();
        rejected
            .extend(strategy.and_then(|strategy| dedupe::first_rejected(strategy, &effects.emits)));
        let broken = broken_rules(&rejected).filter(|_| hold && outcome.error().is_none());
        let outcome = broken.map_or(outcome, |error| Outcome::Threw { error });
        Self { outcome, stored }
    }

    /// # Errors
    /// `Component` with what the hook threw, or which limit it exceeded; `Unavailable` when its worker was lost.
    pub(crate) fn verdict(&self, hook: Hook) -> Result<(), PlatformError> {
        let name = hook.name();
        match (&self.outcome, self.outcome.error()) {
            (_, None) => Ok(()),
            (Outcome::Lost { message }, _) => Err(PlatformError::Unavailable(format!(
                "the `{name}` hook: {message}"
            ))),
            (_, Some(error)) => Err(PlatformError::Component {
                stage: format!("the `{name}` hook threw"),
                error: Box::new(error),
            }),
        }
    }
}

/// How far the hooks of a deployment have come.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    activate_began: bool,
    /// Whether one of them stored a value.
    stored: bool,
    /// Whether `activate` returned.
    returned: bool,
}

impl Reached {
    /// A hook is about to be called.
    pub(crate) fn begins(&mut self, hook: Hook) {
        self.activate_began |= hook == Hook::Activate;
    }

    /// It has ended so.
    pub(crate) fn ended(&mut self, hook: Hook, ended: &HookEnded) {
        self.stored |= ended.stored;
        self.returned |= hook == Hook::Activate && ended.outcome.error().is_none();
    }

    /// Whether `deactivate` is to take back what was begun. One that has no id of its own to delete by has been seen to
    /// delete every webhook of the account.
    pub(crate) fn is_taken_back(&self) -> bool {
        self.activate_began && (self.stored || self.returned)
    }
}
