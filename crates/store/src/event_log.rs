//! The event log and the state that lives beside it.
//!
//! ```text
//!  commit_runs ──► append ──► [ e1 e2 e3 … ] ──► dispatch (durable cursor) ──► invocations of listeners
//!                                 │    ├──────► readers: newest first, by channel
//!                                 │    └──────► tail: new events of all emitters, in the order of appending
//!                                 └─► trim: the last N per emitter and channel class, never past cursor or tail
//! ```

use async_trait::async_trait;
use headwater_model::{
    channel::{Channel, ChannelClass},
    event::{Event, EventRef, NewEvent},
    id::{EmitterId, EventId},
    origin::Origin,
    page::{Page, PageRequest},
    time::EpochMs,
};

use crate::{error::StoreError, progress::Progress};

/// The average size for which queued events have room: an owner's events may take this many bytes times the number
/// that may wait.
pub const QUEUED_EVENT_BYTES: i64 = 64 * 1024;

/// A position in the order in which all events were appended. 0 is before the first one; no position is used twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition(pub u64);

/// An event with its position in the whole log.
#[derive(Debug, Clone)]
pub struct Appended {
    /// Its position.
    pub position: LogPosition,
    /// The emitter.
    pub emitter: EmitterId,
    /// The event.
    pub event: Event,
}

/// An event of the log with what led to it.
#[derive(Debug, Clone)]
pub struct LoggedEvent {
    /// The event.
    pub event: Event,
    /// When it is released to its channel, epoch milliseconds; only on `$in`.
    pub deliver_at_ms: Option<EpochMs>,
    /// The span that emitted it, and the request behind its run as long as the run's record is kept.
    pub origin: Origin,
}

/// A step along the log.
#[derive(Debug, Clone)]
pub struct Tail {
    /// The events, in the order of appending.
    pub events: Vec<Appended>,
    /// The position to continue from: everything up to it was read.
    pub up_to: LogPosition,
}

/// Channels of an emitter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelFilter {
    /// All channels of a class.
    Class(ChannelClass),
    /// One channel.
    Named(Channel),
}

impl ChannelFilter {
    /// Whether the channel is one of them.
    pub fn covers(&self, channel: &Channel) -> bool {
        match self {
            Self::Class(class) => channel.class() == *class,
            Self::Named(named) => channel == named,
        }
    }
}

/// A range of event ids, both ends included. An absent end is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventRange {
    /// This event and later ones.
    pub start: Option<EventId>,
    /// This event and earlier ones.
    pub end: Option<EventId>,
}

/// Events to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDeletion {
    /// The emitter.
    pub emitter: EmitterId,
    /// The channels.
    pub channels: ChannelFilter,
    /// The range of ids.
    pub range: EventRange,
    /// Events appended after the request are never deleted by it. Epoch milliseconds.
    pub now_ms: EpochMs,
}

/// Events per emitter. Appending happens in [`crate::WorkQueue::commit_runs`] only.
#[async_trait]
pub trait EventLog {
    /// A page of an emitter's events, newest first, at a cost that does not depend on how many there are. `total_count`
    /// counts the filter's events (`conformance::deletion::totals_count_what_is_left`).
    /// MUST NOT show events that a requested deletion covers, even before it has run
    /// (`conformance::deletion::requested_deletions_are_hidden_at_once`).
    async fn events(
        &self,
        emitter: &EmitterId,
        channels: &ChannelFilter,
        page: &PageRequest<EventId>,
    ) -> Result<Page<Event>, StoreError>;

    /// An event of the log, whatever its channel
    /// (`conformance::causes::an_event_is_found_by_its_id_on_every_channel`).
    /// MUST NOT show one that a requested deletion covers
    /// (`conformance::causes::an_event_that_is_to_be_deleted_is_not_found`).
    async fn event(&self, of: &EventRef) -> Result<Option<LoggedEvent>, StoreError>;

    /// Records a deletion durably. MUST cover both ends (`conformance::deletion::deleting_a_range_includes_both_ends`).
    /// MUST cover only events that exist now
    /// (`conformance::deletion::a_deletion_covers_only_events_that_existed_at_the_request`).
    /// MUST cancel scheduled events (`$in`) that it covers at once: they are never released afterwards
    /// (`conformance::scheduled::a_deleted_scheduled_event_is_never_released`).
    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError>;

    /// Deletes up to `limit` events of requested deletions. MUST NOT delete one that dispatch has not passed
    /// (`conformance::deletion::a_deletion_never_overtakes_dispatch`).
    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError>;

    /// Deletes up to `limit` events beyond the newest `keep` per emitter and channel class, requested deletions not
    /// counted. Events held back by dispatch or readers do not set `more`. `read_up_to` is the position of the
    /// slowest reader of [`EventLog::tail`] on any node. Several nodes may call it at once: a step is atomic, and
    /// deletes nothing that another has deleted.
    /// MUST NOT delete one that dispatch has not passed (`conformance::deletion::trim_never_passes_the_dispatch_cursor`),
    /// MUST NOT delete one behind `read_up_to` (`conformance::tail::trim_never_passes_the_readers`),
    /// MUST NOT delete one of `$in` (`conformance::scheduled::scheduled_events_are_never_trimmed`).
    async fn trim(
        &self,
        keep: u32,
        limit: u32,
        read_up_to: Option<LogPosition>,
    ) -> Result<Progress, StoreError>;

    /// The end of the log. MUST be before everything appended later, even after deletions
    /// (`conformance::tail::the_end_of_the_log_is_before_what_is_appended_later`).
    async fn log_end(&self) -> Result<LogPosition, StoreError>;

    /// Up to `limit` events of all emitters that were appended after `after`, except those on `$in`: they are appended
    /// again when they are released. Empty only at the end of the log; shorter than `limit` when events are large.
    /// MUST NOT let a position become visible before one that was read: a reader has seen every event up to its
    /// position, however many nodes write
    /// (`conformance::nodes::events_of_concurrent_writers_are_each_read_once_in_order`).
    /// MUST give each exactly once and in the order of appending, per emitter in the order of ids
    /// (`conformance::tail::every_event_is_read_once_in_the_order_of_appending`).
    /// MUST NOT show events that a requested deletion covers (`conformance::tail::requested_deletions_are_not_read`).
    /// MUST continue after events that it does not show
    /// (`conformance::tail::what_is_not_shown_does_not_hold_up_the_rest`).
    async fn tail(&self, after: LogPosition, limit: u32) -> Result<Tail, StoreError>;

    /// Moves up to `limit` scheduled events that are due to their channel, with a new id, in order of their due time.
    /// `next_due_ms` is the time of the next call. MUST move each exactly once
    /// (`conformance::scheduled::scheduled_events_are_released_exactly_once_in_due_order`).
    async fn release_scheduled(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError>;

    /// Reads events past the durable cursor, in order of appending, queues an invocation for each active source and a
    /// delivery for each active webhook that subscribes to the event's emitter and channel, and moves the cursor,
    /// together. A step handles up to `limit` events and up to `limit` pairs of event and subscription: the cursor may
    /// stop among the subscriptions of an event (`conformance::dispatch::a_step_may_stop_among_the_listeners_of_an_event`),
    /// and does so when it has copied several MiB of events' data
    /// (`conformance::backlog::a_step_copies_a_bounded_number_of_bytes`).
    /// Listeners that are inactive or gone miss the event; events on `$in` are dispatched when they are released.
    /// Several nodes may call it at once: a step is atomic, and continues where another has stopped.
    /// MUST NOT pass a position before which an event may yet become visible
    /// (`conformance::nodes::events_of_concurrent_writers_are_each_read_once_in_order`).
    /// MUST queue exactly one invocation or delivery per (event, subscription)
    /// (`conformance::dispatch::each_event_reaches_its_listener_exactly_once_across_reopen`).
    /// MUST match only subscriptions of the user who owns the emitter, or, where they name the emitter or its
    /// workspace, of a member of that workspace (`conformance::dispatch::subscriptions_of_other_users_are_not_matched`).
    /// MUST NOT pass an event with `HOPS_MAX` hops on to a source, but append `event::hop_limit_error` to its emitter's
    /// `$errors`, once per event, unless it was on `$errors` or `$logs` itself
    /// (`conformance::dispatch::an_event_with_the_most_hops_reaches_no_source_and_is_an_error`);
    /// webhooks, which end a chain, receive it (`conformance::dispatch::a_webhook_gets_events_with_the_most_hops`).
    /// MUST NOT pass a source's own `$logs` and `$errors` to itself
    /// (`conformance::dispatch::a_source_is_not_fed_its_own_errors_and_logs`).
    /// `behind` is the number of events left (`conformance::backlog::a_step_tells_how_far_behind_it_is`).
    /// MUST NOT queue an event for a source when its owner has `queued_max` queued events, or more than
    /// [`QUEUED_EVENT_BYTES`] times as many bytes of them; and append `event::queue_full_error` to the `$errors` of the
    /// first source that misses one, once until half of the room is free again
    /// (`conformance::backlog::events_beyond_what_may_wait_are_not_queued_and_that_is_said_once`).
    /// MUST let the events of a workflow's subscription wait in the log, in their order, as long as there is no such
    /// room, or as many of its runs wait to begin as may, and hold nobody else up
    /// (`conformance::admission::events_wait_in_the_log_for_room`).
    async fn dispatch(
        &self,
        now_ms: EpochMs,
        limit: u32,
        queued_max: u32,
    ) -> Result<Progress, StoreError>;

    /// Whether the emitter has events that dispatch has not passed. An emitter is deleted only after that.
    /// MUST consider the emitter's events only
    /// (`conformance::backlog::an_emitter_awaits_dispatch_until_its_last_event_is_passed`).
    async fn awaits_dispatch(&self, emitter: &EmitterId) -> Result<bool, StoreError>;
}

/// The codes of the classes in which these events may have to be trimmed: scheduled ones are not.
pub fn classes_of(events: &[NewEvent]) -> Vec<u8> {
    let mut classes = Vec::new();
    for event in events.iter().filter(|event| event.scheduled.is_none()) {
        let class = event.channel.class().code();
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    classes
}
