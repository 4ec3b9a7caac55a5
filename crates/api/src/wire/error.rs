//! A failure (design section 7, "Errors").

use serde::Serialize;
use utoipa::ToSchema;

/// The body of every response that is not a success.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetails,
}

/// What went wrong, for programs. Codes keep their meaning; new ones may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorCode {
    InvalidParameter,
    Unauthenticated,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    PayloadTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    InvalidProps,
    InvalidComponent,
    ComponentFailed,
    ComponentTimedOut,
    QuotaExceeded,
    RateLimited,
    Internal,
    Unavailable,
}

/// Why a request failed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorDetails {
    code: ErrorCode,
    /// For people.
    message: String,
    /// Dotted path of the parameter at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) param: Option<String>,
    /// Where a component threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stack: Option<String>,
    /// What the node's log can be searched for; only when the fault is the node's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
}

impl ErrorBody {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            error: ErrorDetails {
                code,
                message: message.into(),
                param: None,
                stack: None,
                request_id: None,
            },
        }
    }
}
