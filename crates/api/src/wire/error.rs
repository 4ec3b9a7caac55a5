//! A failure (design section 7, "Errors").

use serde::Serialize;

/// The body of every response that is not a success.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetails,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ErrorDetails {
    /// Stable, for programs.
    code: &'static str,
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
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
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
