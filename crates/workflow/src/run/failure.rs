//! The reasons why a step fails, kept apart because retries choose among them.

use headwater_model::outcome::{ComponentError, Limit, Outcome};
use serde::{Deserialize, Serialize};

use crate::definition::FailureKind;

/// The cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The code threw.
    Thrown,
    /// The code threw a `ConfigurationError`, which another try cannot mend.
    Configuration,
    /// The step took too long.
    Timeout,
    /// The worker's memory was used up.
    OutOfMemory,
    /// The step exported, logged or sent more than its limit.
    TooMuchOutput,
    /// The worker went away again and again.
    WorkerLost,
    /// A wait ended without an answer, and its `on_timeout` is `fail`.
    WaitTimedOut,
    /// The workflow that the step called failed.
    Called,
}

impl Cause {
    /// The kind by which a retry policy names it; `None` for those that are never tried again.
    pub fn kind(self) -> Option<FailureKind> {
        match self {
            Self::Thrown => Some(FailureKind::Thrown),
            Self::Timeout => Some(FailureKind::Timeout),
            Self::OutOfMemory => Some(FailureKind::OutOfMemory),
            Self::WorkerLost => Some(FailureKind::WorkerLost),
            Self::Configuration | Self::TooMuchOutput | Self::WaitTimedOut | Self::Called => None,
        }
    }
}

/// A failure of a step or block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its cause.
    pub cause: Cause,
    /// The error, as people and handlers see it.
    pub error: ComponentError,
}

impl Failure {
    /// A failure that the platform itself states.
    pub fn stated(cause: Cause, name: &str, message: impl Into<String>) -> Self {
        let error = ComponentError {
            name: name.to_owned(),
            message: message.into(),
            ..ComponentError::default()
        };
        Self { cause, error }
    }

    /// The failure of an outcome; `None` if the code returned.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let cause = match outcome {
            Outcome::Returned { .. } => return None,
            Outcome::Threw { error } if error.name == "ConfigurationError" => Cause::Configuration,
            Outcome::Threw { .. } => Cause::Thrown,
            Outcome::LimitExceeded { limit, .. } => match limit {
                Limit::Wall => Cause::Timeout,
                Limit::Memory => Cause::OutOfMemory,
                Limit::Output => Cause::TooMuchOutput,
            },
            // A step is not cancelled by itself.
            Outcome::Lost { .. } | Outcome::Cancelled { .. } => Cause::WorkerLost,
        };
        let error = outcome.error()?;
        Some(Self { cause, error })
    }

    /// `{name, message, code}`: a step's `$error`, and the place of a failed branch or item under `settle`.
    pub fn shown(&self) -> serde_json::Value {
        let ComponentError {
            name,
            message,
            code,
            ..
        } = &self.error;
        serde_json::json!({ "name": name, "message": message, "code": code })
    }
}
