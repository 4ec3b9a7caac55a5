//! One event for a URL, without a webhook.

use headwater_model::{
    event::EventRef,
    id::{EmitterId, EventId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{delivery::Attempt, id};

/// An event, and the URL that is to get it.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"emitter_id": "dc_…", "event_id": "1700000000000-0", "url": "http://example.com/events"}))]
pub(crate) struct SendEvent {
    /// Its source or workflow; `source_id` means the same.
    #[serde(alias = "source_id")]
    #[schema(value_type = id::Emitter)]
    emitter_id: EmitterId,
    /// Its id.
    #[schema(value_type = id::Event)]
    event_id: EventId,
    /// The URL that the event is POSTed to.
    #[schema(required)]
    url: Option<String>,
}

impl SendEvent {
    /// The event and the URL, which is empty without one.
    pub(crate) fn into_parts(self) -> (EventRef, String) {
        let event = EventRef {
            emitter: self.emitter_id,
            id: self.event_id,
        };
        (event, self.url.unwrap_or_default())
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
