//! The event log behind the trait.

use async_trait::async_trait;
use headwater_model::{
    event::{Event, EventRef},
    id::{EmitterId, EventId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    ChannelFilter, EventDeletion, EventLog, LogPosition, LoggedEvent, Progress, StoreError, Tail,
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

    async fn event(&self, of: &EventRef) -> Result<Option<LoggedEvent>, StoreError> {
        let of = of.clone();
        self.read(move |connection| events::by_id(connection, &of))
            .await
    }

    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError> {
        self.write(move |connection| deletion::request(connection, &deletion))
            .await
    }

    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError> {
        let step = move |connection: &_| deletion::run(connection, limit);
        self.progress_if(deletion::is_requested, step).await
    }

    async fn trim(
        &self,
        keep: u32,
        limit: u32,
        read_up_to: Option<LogPosition>,
    ) -> Result<Progress, StoreError> {
        let has_work = move |connection: &_| retention::has_work(connection, keep, read_up_to);
        let step = move |connection: &_| retention::trim(connection, keep, limit, read_up_to);
        self.progress_if(has_work, step).await
    }

    async fn log_end(&self) -> Result<LogPosition, StoreError> {
        self.read(tail::end).await
    }

    async fn tail(&self, after: LogPosition, limit: u32) -> Result<Tail, StoreError> {
        self.read(move |connection| tail::after(connection, after, limit))
            .await
    }

    async fn release_scheduled(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let step = move |connection: &_| scheduled::release(connection, now_ms, limit);
        self.progress_if_due(now_ms, scheduled::next_due, step)
            .await
    }

    async fn dispatch(
        &self,
        now_ms: EpochMs,
        limit: u32,
        queued_max: u32,
    ) -> Result<Progress, StoreError> {
        let step = move |connection: &_| dispatch::run(connection, now_ms, limit, queued_max);
        self.progress_if(dispatch::has_events, step).await
    }

    async fn awaits_dispatch(&self, emitter: &EmitterId) -> Result<bool, StoreError> {
        let emitter = emitter.clone();
        self.read(move |connection| dispatch::has_events_of(connection, emitter.as_str()))
            .await
    }
}
