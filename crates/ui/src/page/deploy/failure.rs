//! Errors that a form shows above what was entered; others have a page of their own.

use headwater_model::error::Invalid;
use headwater_platform::PlatformError;

use crate::problem::{Problem, capital};

/// The reason why something of a form was not done.
pub(crate) enum Failure {
    /// The value of a prop does not fit: `PROP`, or `PROP.part`.
    Value(Invalid),
    /// The component's code failed.
    Code {
        message: String,
        stack: Option<String>,
    },
    /// Something else that the next attempt may not meet.
    Told(String),
}

impl Failure {
    /// The failure, if a form shows it.
    pub(crate) fn of(error: PlatformError) -> Result<Self, Problem> {
        match error {
            PlatformError::InvalidProps(Invalid { field, reason }) => {
                let prop = field.strip_prefix("configured_props.").unwrap_or(&field);
                Ok(Self::Value(Invalid::new(prop, reason)))
            }
            PlatformError::Component { stage, error } => Ok(Self::Code {
                message: format!("{}: {}", capital(&stage), error.line()),
                stack: Some(error.stack).filter(|stack| !stack.is_empty()),
            }),
            PlatformError::Invalid(invalid) => Ok(Self::Told(invalid.to_string())),
            error @ (PlatformError::Unreachable(_)
            | PlatformError::Conflict(_)
            | PlatformError::TooManyWaiting { .. }
            | PlatformError::Unavailable(_)) => Ok(Self::Told(error.to_string())),
            error @ (PlatformError::NotFound { .. }
            | PlatformError::EventGone { .. }
            | PlatformError::Unpublishable(_)
            | PlatformError::Unauthenticated
            | PlatformError::Forbidden(_)
            | PlatformError::KeyTaken(_)
            | PlatformError::AdminOnly
            | PlatformError::QuotaExceeded { .. }
            | PlatformError::RateLimited { .. }
            | PlatformError::SignInThrottled { .. }
            | PlatformError::Internal(_)) => Err(error.into()),
        }
    }
}
