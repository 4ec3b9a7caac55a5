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

use crate::{
    connection::Connection, database::Transaction, deletion, dispatch, events, retention,
    scheduled, store::PostgresStore, tail,
};

#[async_trait]
impl EventLog for PostgresStore {
    async fn events(
        &self,
        emitter: &EmitterId,
        channels: &ChannelFilter,
        page: &PageRequest<EventId>,
    ) -> Result<Page<Event>, StoreError> {
        self.read(
            |connection| async move { events::page(&connection, emitter, channels, page).await },
        )
        .await
    }

    async fn event(&self, of: &EventRef) -> Result<Option<LoggedEvent>, StoreError> {
        self.read(|connection| async move { events::by_id(&connection, of).await })
            .await
    }

    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError> {
        let deletion = &deletion;
        self.append(|connection| async move { deletion::request(&connection, deletion).await })
            .await
    }

    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError> {
        let has_work =
            |connection: Connection| async move { deletion::is_requested(&connection).await };
        let step = |connection: Connection| async move { deletion::run(&connection, limit).await };
        self.progress_if(Transaction::Appending, has_work, step)
            .await
    }

    async fn trim(
        &self,
        keep: u32,
        limit: u32,
        read_up_to: Option<LogPosition>,
    ) -> Result<Progress, StoreError> {
        let has_work = |connection: Connection| async move {
            retention::has_work(&connection, keep, read_up_to).await
        };
        let step = |connection: Connection| async move {
            retention::trim(&connection, keep, limit, read_up_to).await
        };
        self.progress_if(Transaction::Appending, has_work, step)
            .await
    }

    async fn log_end(&self) -> Result<LogPosition, StoreError> {
        self.read(|connection| async move { tail::end(&connection).await })
            .await
    }

    async fn tail(&self, after: LogPosition, limit: u32) -> Result<Tail, StoreError> {
        self.read(|connection| async move { tail::after(&connection, after, limit).await })
            .await
    }

    async fn release_scheduled(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let next_due =
            |connection: Connection| async move { scheduled::next_due(&connection).await };
        let step = |connection: Connection| async move {
            scheduled::release(&connection, now_ms, limit).await
        };
        self.progress_if_due(Transaction::Appending, now_ms, next_due, step)
            .await
    }

    async fn dispatch(
        &self,
        now_ms: EpochMs,
        limit: u32,
        queued_max: u32,
    ) -> Result<Progress, StoreError> {
        let has_work =
            |connection: Connection| async move { dispatch::has_events(&connection).await };
        let step = |connection: Connection| async move {
            dispatch::run(&connection, now_ms, limit, queued_max).await
        };
        self.progress_if(Transaction::Appending, has_work, step)
            .await
    }

    async fn awaits_dispatch(&self, emitter: &EmitterId) -> Result<bool, StoreError> {
        self.read(|connection| async move {
            dispatch::has_events_of(&connection, emitter.as_str()).await
        })
        .await
    }
}
