//! Sending events again to their listeners, not part of Pipedream's API.

use headwater_model::{
    event::EventRef,
    id::{EmitterId, EventId, ListenerId},
};
use headwater_platform::EventsReplayed;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{id, lenient};

/// Events to send again.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"events": [{"emitter_id": "dc_…", "event_id": "1700000000000-0"}], "dry_run": true}))]
pub(crate) struct ReplayEvents {
    /// The events, at most 100.
    #[serde(default)]
    #[schema(required)]
    events: Vec<ReplayedEvent>,
    /// The only listener that gets them; without it, all that listen do.
    #[serde(default)]
    #[schema(value_type = Option<id::Listener>)]
    listener_id: Option<ListenerId>,
    /// Whether only to tell who would get them.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

/// One event.
#[derive(Debug, Deserialize, ToSchema)]
struct ReplayedEvent {
    /// Its source or workflow; `source_id` means the same.
    #[serde(alias = "source_id")]
    #[schema(value_type = id::Emitter)]
    emitter_id: EmitterId,
    /// Its id.
    #[schema(value_type = id::Event)]
    event_id: EventId,
}

impl From<ReplayEvents> for headwater_platform::ReplayEvents {
    fn from(request: ReplayEvents) -> Self {
        let events = request.events.into_iter().map(|event| EventRef {
            emitter: event.emitter_id,
            id: event.event_id,
        });
        Self {
            events: events.collect(),
            only: request.listener_id,
            is_dry: request.dry_run.unwrap_or_default(),
        }
    }
}

/// The extent of a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayedEvents {
    /// Events that were sent again to somebody; in a dry run, those that would be.
    count: u64,
    /// Events that nobody gets: nobody listens, or nobody that is active and has room.
    unheard: u64,
    /// Events that are not kept any more.
    gone: u64,
    /// The listeners that the caller may see.
    listeners: Vec<ReplayListener>,
    /// The number of other listeners.
    others: u64,
    /// Whether an event has more than 1,000 subscriptions, of which the first were looked at.
    has_more: bool,
}

/// A listener of events that are sent again.
#[derive(Debug, Serialize, ToSchema)]
struct ReplayListener {
    #[schema(value_type = id::Listener)]
    listener_id: ListenerId,
    /// Its name; of a webhook without one, its URL.
    name: String,
    /// Events that it got, or would get.
    count: u64,
    /// Events that it does not get, because it is not active or has no room.
    left_out: u64,
}

impl From<EventsReplayed> for ReplayedEvents {
    fn from(replayed: EventsReplayed) -> Self {
        let listeners = replayed.listeners.into_iter().map(|one| ReplayListener {
            listener_id: one.id,
            name: one.name,
            count: one.reached,
            left_out: one.left_out,
        });
        Self {
            count: replayed.count,
            unheard: replayed.unheard,
            gone: replayed.gone,
            listeners: listeners.collect(),
            others: replayed.others,
            has_more: replayed.has_more,
        }
    }
}
