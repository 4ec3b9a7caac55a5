//! What outside the node something goes back to, so that whoever looks for its cause finds it.

use std::sync::Arc;

use crate::trace::TraceParent;

/// The request that caused something; nothing for what a timer or the node itself began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The request's `X-Request-Id`, under which the log names it.
    pub request_id: Option<Arc<str>>,
    /// The span that caused it.
    pub trace: Option<TraceParent>,
}

impl Origin {
    /// The request's id, for a line of the log.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}
