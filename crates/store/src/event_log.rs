//! The event log and the state that lives beside it.
//!
//! ```text
//!  commit_runs ──► append ──► [ e1 e2 e3 … ] ──► dispatch (durable cursor) ──► invocations of listeners
//!                                 │    └──────► readers: newest first, by channel
//!                                 └─► trim: the last N per emitter and channel class, never past the cursor
//! ```

use async_trait::async_trait;
use headwater_model::{
    dedupe,
    event::Event,
    id::{EmitterId, EventId, SourceId},
    page::{Page, PageRequest},
};
use serde_json::{Map, Value};

use crate::{
    error::StoreError,
    record::{ChannelFilter, EventDeletion, Progress},
};

/// Events per emitter. Appending happens in [`crate::WorkQueue::commit_runs`] only.
#[async_trait]
pub trait EventLog {
    /// A page of an emitter's events, newest first. `total_count` counts the filter's events.
    /// MUST NOT show events that a requested deletion covers, even before it has run.
    async fn events(
        &self,
        emitter: &EmitterId,
        channels: &ChannelFilter,
        page: &PageRequest<EventId>,
    ) -> Result<Page<Event>, StoreError>;

    /// Records a deletion durably. MUST cover both ends, and only events that exist now.
    /// Scheduled events (`$in`) that it covers are cancelled at once: they are never released afterwards.
    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError>;

    /// Deletes up to `limit` events of requested deletions.
    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError>;

    /// Deletes up to `limit` events beyond the newest `keep` per emitter and channel class (never of `$in`),
    /// MUST NOT delete one that dispatch has not passed.
    async fn trim(&self, keep: u32, limit: u32) -> Result<Progress, StoreError>;

    /// Moves up to `limit` scheduled events that are due to their channel, with a new id, in order of their due time.
    /// MUST move each exactly once. `next_due_ms` tells when to come back.
    async fn release_scheduled(&self, now_ms: u64, limit: u32) -> Result<Progress, StoreError>;

    /// Reads up to `limit` events past the durable cursor, in order of appending, queues an invocation for each
    /// active source that subscribes to the event's emitter and channel, and moves the cursor, together.
    /// MUST queue exactly one invocation per (event, subscription), MUST match only subscriptions of the user who owns
    /// the emitter, or, where they name the emitter or its workspace, of a member of that workspace, MUST NOT pass on an event with `HOPS_MAX` hops, nor a source's own `$logs`/`$errors` to itself.
    /// Listeners that are inactive or gone miss the event.
    async fn dispatch(&self, now_ms: u64, limit: u32) -> Result<Progress, StoreError>;
}

/// `$.service.db` and dedupe state. Writing happens in [`crate::WorkQueue::commit_runs`] only.
#[async_trait]
pub trait KeyValue {
    /// A source's whole map.
    async fn key_values(&self, source_id: &SourceId) -> Result<Map<String, Value>, StoreError>;

    /// A source's dedupe state; `None` before the first event.
    async fn dedupe_state(&self, source_id: &SourceId)
    -> Result<Option<dedupe::State>, StoreError>;
}
