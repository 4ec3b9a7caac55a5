//! A failure (docs/api-design.md, "Status codes").

use serde::Serialize;
use utoipa::ToSchema;

/// The body of every response that is not a success.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetails,
}

/// The kind of failure, for programs. Codes keep their meaning; new ones may be added.
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
    /// The stack of the component's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stack: Option<String>,
    /// The request's id in the node's log; only if the fault is the node's.
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
