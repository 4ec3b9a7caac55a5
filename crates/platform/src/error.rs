//! The failures of use cases. Knows no status code; `api` maps each variant to one.

use headwater_engine::{BuildStage, EngineError, Rejection};
use headwater_model::{
    error::Invalid,
    id::{EmitterId, EventId},
    outcome::ComponentError,
};
use headwater_store::{Conflict, StoreError};

use crate::conflict_text::conflict_text;

/// The approximate time until one of the waiting builds will have had its turn.
const BUSY_RETRY_S: u64 = 5;
/// The time after which one of the runs that wait may have begun.
const QUEUE_RETRY_S: u64 = 10;

/// A use case's answer instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The thing does not exist, or it is another tenant's.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// The kind of thing that was looked for, in the API's words.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// The event is not in its emitter's log.
    #[error(
        "there is no event `{id}` of `{emitter}`: it was never there, it was deleted, or retention took it: of each \
         emitter this node keeps the newest {retained} events that components emit, and as many on `$errors` and on \
         `$logs`; `headwater serve --retained-events` sets the number"
    )]
    EventGone {
        /// The emitter.
        emitter: EmitterId,
        /// The event's id.
        id: EventId,
        /// The number of events that retention keeps.
        retained: u32,
    },
    /// A parameter is missing or malformed.
    #[error("{}", .0.reason)]
    Invalid(Invalid),
    /// Configured props do not fit the component.
    #[error("{0}")]
    InvalidProps(Invalid),
    /// The component builds, and something that publishing it requires is missing or malformed, or is not as it was
    /// published.
    #[error("{0}")]
    Unpublishable(Invalid),
    /// The component's own code failed while being built or in a hook.
    #[error("{stage}: {}", .error.line())]
    Component {
        /// The step that failed, such as "the `activate` hook threw".
        stage: String,
        /// The error that it threw.
        error: Box<ComponentError>,
    },
    /// The step does not apply to the present state.
    #[error("{0}")]
    Conflict(String),
    /// No key, or one that nobody has.
    #[error(
        "the request has no API key, or the node does not know it: send `Authorization: Bearer <API_KEY>`"
    )]
    Unauthenticated,
    /// The caller is not a member.
    #[error("you are not a member of workspace `{0}`")]
    Forbidden(String),
    /// Another user has published under the key.
    #[error("the key `{0}` belongs to another user of the registry; publish under another key")]
    KeyTaken(String),
    /// Only an administrator may do it.
    #[error(
        "only the administrator of this node may do this; ask the administrator, or use their key"
    )]
    AdminOnly,
    /// The user has had its invocations of the day.
    #[error("the quota of {quota} invocations a day is used up; it resets at 00:00 UTC")]
    QuotaExceeded {
        /// The number that the user may have.
        quota: u64,
        /// Until the next day.
        retry_after_s: u64,
    },
    /// The key sends more requests than it may.
    #[error("this key may make {per_second} requests per second; try again in {retry_after_s} s")]
    RateLimited {
        /// The number that it may send.
        per_second: u32,
        /// Until the next one passes.
        retry_after_s: u64,
    },
    /// Too many tried to sign in with what nobody has.
    #[error("too many attempts to sign in failed; try again in {retry_after_s} s")]
    SignInThrottled {
        /// Until the next attempt is heard.
        retry_after_s: u64,
    },
    /// Too much of the caller's waits already.
    #[error("{reason}")]
    TooManyWaiting {
        /// The kind that waits, and how many may.
        reason: String,
        /// Until it is worth a try.
        retry_after_s: u64,
    },
    /// A service outside that the request needs, such as the package registry, does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// Store or engine cannot be reached at present.
    #[error("temporarily unavailable, try again: {0}")]
    Unavailable(String),
    /// A fault of the platform.
    #[error("internal error: {0}")]
    Internal(String),
}

impl PlatformError {
    /// The same error, about a part of a workflow: its place in `workflow.yaml`, and how it is called there.
    pub(crate) fn of_part(self, place: &str, called: &str) -> Self {
        if let Self::Component { stage, error } = self {
            let stage = format!("{called}: {stage}");
            return Self::Component { stage, error };
        }
        if let Self::Invalid(invalid) = self {
            return Self::Invalid(invalid.within(place));
        }
        if let Self::InvalidProps(invalid) = self {
            return Self::InvalidProps(invalid.within(place));
        }
        self
    }

    /// The text within an answer that tells more than the error. Details that must not leave the node go to its log.
    pub(crate) fn told(&self) -> String {
        if let Self::Unavailable(reason) = self {
            tracing::warn!(reason, "unavailable");
            return "temporarily unavailable; the node's log has the cause".to_owned();
        }
        if let Self::Internal(reason) = self {
            tracing::error!(reason, "internal error");
            return "internal error; the node's log has the details".to_owned();
        }
        self.to_string()
    }

    /// A failure because the thing does not exist.
    pub fn not_found(kind: &'static str, id: impl ToString) -> Self {
        Self::NotFound {
            kind,
            id: id.to_string(),
        }
    }

    /// A value of `configured_props` does not fit.
    pub(crate) fn configured_prop(invalid: Invalid) -> Self {
        Self::InvalidProps(invalid.within("configured_props"))
    }

    /// A parameter is missing or malformed.
    pub fn invalid(field: &str, reason: impl std::fmt::Display) -> Self {
        Self::Invalid(Invalid::new(field, reason))
    }
}

impl From<StoreError> for PlatformError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(conflict @ Conflict::QueueFull(_)) => Self::TooManyWaiting {
                reason: conflict_text(&conflict),
                retry_after_s: QUEUE_RETRY_S,
            },
            // Nothing is wrong with the request: another node has the work.
            StoreError::Conflict(conflict @ (Conflict::LeaseLost | Conflict::Held { .. })) => {
                Self::Unavailable(conflict_text(&conflict))
            }
            StoreError::Conflict(conflict) => Self::Conflict(conflict_text(&conflict)),
            StoreError::Unavailable { .. } => Self::Unavailable(error.to_string()),
            StoreError::Corrupt(reason) | StoreError::Unsupported(reason) => Self::Internal(reason),
        }
    }
}

impl From<EngineError> for PlatformError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Spawn(_)
            | EngineError::WorkerLost(_)
            | EngineError::Unavailable { .. } => Self::Unavailable(error.to_string()),
            EngineError::Busy(reason) => Self::TooManyWaiting {
                reason,
                retry_after_s: BUSY_RETRY_S,
            },
            EngineError::Protocol(reason) => Self::Internal(reason),
        }
    }
}

impl From<Rejection> for PlatformError {
    fn from(rejection: Rejection) -> Self {
        let stage = match rejection.stage {
            BuildStage::Fetch => "cannot fetch the component's code from its URL",
            BuildStage::Resolve if rejection.error.name == "SyntaxError" => {
                "the component's code does not parse"
            }
            BuildStage::Resolve => "cannot build the component's code or resolve its imports",
            BuildStage::Evaluate => "the component failed to evaluate",
        };
        Self::Component {
            stage: stage.to_owned(),
            error: Box::new(rejection.error),
        }
    }
}

#[cfg(test)]
mod tests {
    use headwater_store::NodeEpoch;

    use super::*;

    #[test]
    fn work_that_another_node_has_is_worth_another_try() {
        for conflict in [Conflict::LeaseLost, Conflict::Held { by: NodeEpoch(1) }] {
            let error = PlatformError::from(StoreError::Conflict(conflict));
            assert!(matches!(error, PlatformError::Unavailable(_)), "{error}");
        }
    }
}
