//! One event for a URL, without a webhook.

use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::delivery::Attempt;

/// The address of one event.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"url": "https://example.com/events"}))]
pub(crate) struct SendEvent {
    /// The URL that the event is POSTed to.
    #[schema(required)]
    url: Option<String>,
}

impl SendEvent {
    /// The URL; empty without one.
    pub(crate) fn url(&self) -> &str {
        self.url.as_deref().unwrap_or_default()
    }
}

/// The answer of that address.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SentEvent {
    /// Whether it was taken: whether the answer was 2xx.
    delivered: bool,
    attempt: Attempt,
}

impl From<headwater_platform::Attempt> for SentEvent {
    fn from(attempt: headwater_platform::Attempt) -> Self {
        Self {
            delivered: attempt.is_delivered(),
            attempt: attempt.into(),
        }
    }
}
