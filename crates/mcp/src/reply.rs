//! The results of tools: JSON as the API shows it, or a refusal that the assistant can act on.

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde_json::Value;

/// The outcome of a tool: an object, or a refusal.
pub(crate) type Reply = Result<Shown, Refusal>;

/// A result.
#[derive(Debug)]
pub(crate) struct Shown(pub(crate) Value);

/// The reason why there is no result, in a sentence or two that end with the next step.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(pub(crate) String);

impl Refusal {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl IntoCallToolResult for Shown {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(self.0).into())
    }
}

// A refused call is a result: an assistant reads it and corrects itself, while errors of the protocol end in its
// program.
impl IntoCallToolResult for Refusal {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::error(vec![ContentBlock::text(self.0)]).into())
    }
}
