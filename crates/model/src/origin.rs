//! The cause outside the node that something goes back to, so that it can be found.

use std::sync::Arc;

use crate::trace::TraceParent;

/// The request that caused something; none for things that a timer or the node itself began.
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
