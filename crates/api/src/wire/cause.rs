//! The event that something was caused by; not part of Pipedream's API.

use headwater_model::{
    event::EventRef,
    id::{EmitterId, EventId},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::id;

/// The event that something was caused by.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Cause {
    #[schema(value_type = id::Emitter)]
    emitter_id: EmitterId,
    #[schema(value_type = id::Event)]
    event_id: EventId,
}

impl From<EventRef> for Cause {
    fn from(event: EventRef) -> Self {
        Self {
            emitter_id: event.emitter,
            event_id: event.id,
        }
    }
}
