//! Searching the kept events of many emitters, newest first, a bounded number at a time.

use async_trait::async_trait;
use headwater_model::{
    channel::Channel,
    event::{EmitKey, EventData},
    event_search::{EventMatcher, EventPlace},
    id::{EmitterId, EventId, InvocationId},
    time::EpochMs,
};

use crate::{error::StoreError, event_log::ChannelFilter, tenants::Owner};

/// The emitters whose events are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchedEmitters {
    /// One of them.
    One(EmitterId),
    /// All sources and workflows of a workspace, or else all that a user owns.
    Of(Owner),
}

/// The work that one call does at most. It ends behind the event that reaches a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanLimits {
    /// Events that are looked at.
    pub events: u32,
    /// Bytes of their JSON.
    pub bytes: u64,
}

/// A search of kept events.
#[derive(Debug, Clone, PartialEq)]
pub struct EventSearch {
    /// The emitters.
    pub emitters: SearchedEmitters,
    /// The channels of each.
    pub channels: ChannelFilter,
    /// The earliest time in an event's id, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// The latest one.
    pub until_ms: Option<EpochMs>,
    /// The conditions on each event.
    pub matcher: EventMatcher,
    /// The place behind which to go on.
    pub after: Option<EventPlace>,
    /// The number of events to find.
    pub limit: u32,
    /// The bounds of the work.
    pub scan: ScanLimits,
}

/// An id behind every id.
const END: EventId = EventId {
    ms: EpochMs(i64::MAX as u64),
    sequence: u32::MAX,
};

impl EventSearch {
    /// The id in front of which the search begins with an emitter.
    pub fn beginning_of(&self, emitter: &EmitterId) -> EventId {
        let until = self.until_ms.map_or(END, |until_ms| EventId {
            ms: until_ms,
            sequence: u32::MAX,
        });
        let after = match &self.after {
            None => END,
            // Its event of the same id, if it has one, comes later.
            Some(after) if *emitter < after.emitter => EventId::next(Some(after.id), EpochMs(0)),
            Some(after) => after.id,
        };
        until.min(after)
    }
}

/// An event that was found, with the beginning of its data if that is large.
#[derive(Debug, Clone)]
pub struct FoundEvent {
    /// Its emitter.
    pub emitter: EmitterId,
    /// Its id.
    pub id: EventId,
    /// The time it was appended, in epoch milliseconds.
    pub indexed_at_ms: EpochMs,
    /// Its channel.
    pub channel: Channel,
    /// The emitted data, or a preview.
    pub data: EventData,
    /// The emit's `id`.
    pub key: Option<EmitKey>,
    /// The emit's `summary`.
    pub summary: Option<String>,
    /// The emit's `ts`.
    pub ts: Option<f64>,
    /// The run that emitted it; none for events of the platform itself.
    pub run_id: Option<InvocationId>,
}

/// The result of a part of a search.
#[derive(Debug, Clone)]
pub struct FoundEvents {
    /// The events, newest first.
    pub events: Vec<FoundEvent>,
    /// The number that was looked at.
    pub scanned: u32,
    /// The number of events of these emitters and channels that are kept, of whatever time. It may count some that a
    /// requested deletion is about to delete.
    pub kept_at_most: u64,
    /// The place to go on behind; none when everything was looked at.
    pub next: Option<EventPlace>,
}

/// Searching of events.
#[async_trait]
pub trait EventSearches {
    /// Looks at events in the order of their places, newest first, until `limit` of them match or the work is at its
    /// bounds.
    /// MUST lead from part to part past every event once, however small the parts, and in the order of places
    /// (`conformance::event_search::parts_of_a_search_pass_every_event_once_newest_first`).
    /// MUST search the events of the given emitters, channels and times alone
    /// (`conformance::event_search::a_search_is_of_its_emitters_channels_and_times`).
    /// MUST NOT show events that a requested deletion covers, nor those of an owner's emitters that are being deleted
    /// (`conformance::event_search::a_search_hides_what_is_being_deleted`).
    /// MUST find those that have every word and value that is searched for, and no others
    /// (`conformance::event_search::words_and_paths_choose_among_the_events_of_a_search`).
    /// MUST end a part at its bounds, though nothing was found
    /// (`conformance::event_search::a_part_of_a_search_is_bounded`).
    async fn search_events(&self, search: EventSearch) -> Result<FoundEvents, StoreError>;
}
