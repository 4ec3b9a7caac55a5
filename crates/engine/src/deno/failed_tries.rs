//! Failures of a task that one caller tries while others wait: the waiting callers get the failure, instead of
//! trying one after the other.
//!
//! Not responsible for the waiting.

use parking_lot::Mutex;

use crate::api::EngineError;

/// The failed tries so far.
#[derive(Debug, Default)]
pub(super) struct FailedTries(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    count: u64,
    last: Option<EngineError>,
}

impl FailedTries {
    /// The number of them so far, for [`FailedTries::since`].
    pub(super) fn count(&self) -> u64 {
        self.0.lock().count
    }

    /// Adds one.
    pub(super) fn add(&self, error: &EngineError) {
        let mut state = self.0.lock();
        state.count += 1;
        state.last = Some(copy(error));
    }

    /// # Errors
    /// The last try that has failed since there were `count`.
    pub(super) fn since(&self, count: u64) -> Result<(), EngineError> {
        let state = self.0.lock();
        match &state.last {
            Some(error) if state.count != count => Err(copy(error)),
            _ => Ok(()),
        }
    }
}

fn copy(error: &EngineError) -> EngineError {
    match error {
        EngineError::Spawn(reason) => EngineError::Spawn(reason.clone()),
        EngineError::Protocol(reason) => EngineError::Protocol(reason.clone()),
        EngineError::WorkerLost(reason) => EngineError::WorkerLost(reason.clone()),
        EngineError::Busy(reason) => EngineError::Busy(reason.clone()),
        EngineError::Unavailable { context, reason } => EngineError::Unavailable {
            context: context.clone(),
            reason: reason.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{EngineError, FailedTries};

    #[test]
    fn whoever_waited_through_a_failure_gets_it_and_the_next_one_tries() {
        let failed = FailedTries::default();
        let seen = failed.count();
        failed.since(seen).unwrap();
        failed.add(&EngineError::Spawn("no Deno".into()));
        let told = failed.since(seen).unwrap_err().to_string();
        assert!(told.contains("no Deno"), "{told}");
        failed.since(failed.count()).unwrap();
    }
}
