//! Hooks of a source as a change of its life calls them, and the facts about their ends.
//!
//! Responsible for deciding whether a hook has failed, and whether the beginnings of a failed
//! deployment can be taken back. Not for running them (`actor/starting.rs`).

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
    /// Whether its effects are held back until `Settle`.
    pub(crate) hold: bool,
    pub(crate) ended: oneshot::Sender<HookEnded>,
}

/// The end of a hook.
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

    /// Of a hook that was called. If its effects are held back, it has failed too when a call of
    /// `$emit` broke a rule: the event would be missing, and the caller of the deployment is there to
    /// be told.
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
    /// `Component` with the hook's error, or the limit that it exceeded; `Unavailable` if its worker
    /// was lost.
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

/// The progress of a deployment's hooks.
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

    /// Whether `deactivate` is to take the deployment's beginnings back. One that has no id of its own
    /// to delete by has been seen to delete every webhook of the account.
    pub(crate) fn is_taken_back(&self) -> bool {
        self.activate_began && (self.stored || self.returned)
    }
}
