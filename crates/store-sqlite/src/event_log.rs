//! The event log behind the trait.

use async_trait::async_trait;
use headwater_model::{
    event::Event,
    id::{EmitterId, EventId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    ChannelFilter, EventDeletion, EventLog, LogPosition, Progress, StoreError, Tail,
};

use crate::{deletion, dispatch, events, retention, scheduled, store::SqliteStore, tail};

#[async_trait]
impl EventLog for SqliteStore {
    async fn events(
        &self,
        emitter: &EmitterId,
        channels: &ChannelFilter,
        page: &PageRequest<EventId>,
    ) -> Result<Page<Event>, StoreError> {
        let (emitter, channels, page) = (emitter.clone(), channels.clone(), page.clone());
        self.read(move |connection| events::page(connection, &emitter, &channels, &page))
            .await
    }

    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError> {
        self.write(move |connection| deletion::request(connection, &deletion))
            .await
    }

    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError> {
        // Looking costs no transaction; most looks find nothing.
        if !self.read(deletion::is_requested).await? {
            return Ok(Progress::default());
        }
        self.write(move |connection| deletion::run(connection, limit))
            .await
    }

    async fn trim(
        &self,
        keep: u32,
        limit: u32,
        read_up_to: Option<LogPosition>,
    ) -> Result<Progress, StoreError> {
        let has_work = move |connection: &_| retention::has_work(connection, keep, read_up_to);
        if !self.read(has_work).await? {
            return Ok(Progress::default());
        }
        self.write(move |connection| retention::trim(connection, keep, limit, read_up_to))
            .await
    }

    async fn log_end(&self) -> Result<LogPosition, StoreError> {
        self.read(tail::end).await
    }

    async fn tail(&self, after: LogPosition, limit: u32) -> Result<Tail, StoreError> {
        self.read(move |connection| tail::after(connection, after, limit))
            .await
    }

    async fn release_scheduled(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        // A read costs no write transaction, and usually finds that nothing is due.
        let next_due_ms = self.read(scheduled::next_due).await?;
        if next_due_ms.is_none_or(|due_ms| due_ms > now_ms) {
            return Ok(Progress {
                next_due_ms,
                ..Progress::default()
            });
        }
        self.write(move |connection| scheduled::release(connection, now_ms, limit))
            .await
    }

    async fn dispatch(
        &self,
        now_ms: EpochMs,
        limit: u32,
        queued_max: u32,
    ) -> Result<Progress, StoreError> {
        // Most nudges find nothing new, and a read costs no write transaction.
        if !self.read(dispatch::has_events).await? {
            return Ok(Progress::default());
        }
        self.write(move |connection| dispatch::run(connection, now_ms, limit, queued_max))
            .await
    }

    async fn awaits_dispatch(&self, emitter: &EmitterId) -> Result<bool, StoreError> {
        let emitter = emitter.clone();
        self.read(move |connection| dispatch::has_events_of(connection, emitter.as_str()))
            .await
    }
}
