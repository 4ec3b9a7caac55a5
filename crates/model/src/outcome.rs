//! The end of a run of a component's code.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An error thrown by a component's code, as JavaScript gives it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentError {
    /// The error's class, such as `TypeError` or `ConfigurationError`.
    pub name: String,
    /// The error's text.
    pub message: String,
    /// Frames in the component's own lines; empty when there are none.
    #[serde(default)]
    pub stack: String,
    /// The error's own `code`, when it has one (`ECONNREFUSED`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Value>,
    /// The status of the HTTP response that it is about, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

impl ComponentError {
    /// The error in one line for people: a stack, if there is one, has the error's name itself. The names of failed builds say
    /// nothing that the sentence does not.
    pub fn line(&self) -> Cow<'_, str> {
        let is_plain = matches!(&*self.name, "" | "Error" | "ResolveError" | "FetchError");
        match self.stack.is_empty() && !is_plain {
            true => Cow::Owned(format!("{}: {}", self.name, self.message)),
            false => Cow::Borrowed(&self.message),
        }
    }

    /// The error's name and message, as JavaScript writes an error without its stack.
    pub fn titled(&self) -> String {
        match &*self.name {
            "" => self.message.clone(),
            name => format!("{name}: {}", self.message),
        }
    }
}

/// The limit of a run that was exceeded (docs/guide/sandbox-and-limits.md, "Limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Wall-clock time of the run.
    Wall,
    /// The worker's heap.
    Memory,
    /// Bytes that the run emitted, responded and stored.
    Output,
}

/// Every way in which a run can end. A component's failure is one of these, never an `Err` of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// The code returned; with its value, when that is JSON.
    Returned {
        /// The return value of `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// The code threw.
    Threw {
        /// The error that it threw.
        error: ComponentError,
    },
    /// The run was ended at a limit.
    LimitExceeded {
        /// Which.
        limit: Limit,
        /// The text for the component's author.
        message: String,
    },
    /// The worker was lost for a reason outside of this run; the run may be started again.
    Lost {
        /// The reason, as far as it is known.
        message: String,
    },
    /// Somebody ended the run of a source; nothing of it counts but its log.
    Cancelled {
        /// The reason.
        message: String,
    },
}

/// The answer of an app to an unknown caller.
const UNAUTHORIZED: u16 = 401;

impl Outcome {
    /// Whether the code threw because an app did not take its credentials.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self, Self::Threw { error } if error.status == Some(UNAUTHORIZED))
    }

    /// The error to report, or `None` when the run returned.
    pub fn error(&self) -> Option<ComponentError> {
        let named = |name: &str, code: &str, message: &str| ComponentError {
            name: name.to_owned(),
            message: message.to_owned(),
            stack: String::new(),
            code: Some(Value::from(code)),
            status: None,
        };
        match self {
            Self::Returned { .. } => None,
            Self::Threw { error } => Some(error.clone()),
            Self::LimitExceeded { limit, message } => Some(match limit {
                Limit::Wall => named("TimeoutError", "LIMIT_WALL", message),
                Limit::Memory => named("MemoryError", "LIMIT_MEMORY", message),
                Limit::Output => named("OutputError", "LIMIT_OUTPUT", message),
            }),
            Self::Lost { message } => Some(named("WorkerLostError", "WORKER_LOST", message)),
            Self::Cancelled { message } => Some(named("CancelledError", "CANCELLED", message)),
        }
    }
}
