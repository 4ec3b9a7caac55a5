//! Reading the event log, and the state that lives beside it.

use async_trait::async_trait;
use headwater_model::{
    dedupe,
    event::Event,
    id::{EmitterId, EventId, RunnableId},
    page::{Page, PageRequest, Position},
};
use headwater_store::{
    ChannelFilter, EventDeletion, EventLog, KeyValue, LogPosition, Progress, StoreError, Tail,
};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use crate::{
    SqliteStore,
    connection::failed,
    deletion, dispatch, emitters,
    event_row::{self, NOT_DELETED},
    retention,
    row::{get, signed},
    scheduled, tail,
};

#[async_trait]
impl EventLog for SqliteStore {
    async fn events(
        &self,
        emitter: &EmitterId,
        channels: &ChannelFilter,
        page: &PageRequest<EventId>,
    ) -> Result<Page<Event>, StoreError> {
        let (emitter, channels, page) = (emitter.clone(), channels.clone(), page.clone());
        self.read(move |connection| events(connection, &emitter, &channels, &page))
            .await
    }

    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError> {
        self.write(move |connection| deletion::request(connection, &deletion))
            .await
    }

    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError> {
        self.write(move |connection| deletion::run(connection, limit))
            .await
    }

    async fn trim(
        &self,
        keep: u32,
        limit: u32,
        read_up_to: Option<LogPosition>,
    ) -> Result<Progress, StoreError> {
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

    async fn release_scheduled(&self, now_ms: u64, limit: u32) -> Result<Progress, StoreError> {
        self.write(move |connection| scheduled::release(connection, now_ms, limit))
            .await
    }

    async fn dispatch(
        &self,
        now_ms: u64,
        limit: u32,
        queued_max: u32,
    ) -> Result<Progress, StoreError> {
        // Most nudges find nothing new; a look that only reads costs no transaction.
        if !self.read(dispatch::has_events).await? {
            return Ok(Progress::default());
        }
        self.write(move |connection| dispatch::run(connection, now_ms, (limit, queued_max)))
            .await
    }

    async fn awaits_dispatch(&self, emitter: &EmitterId) -> Result<bool, StoreError> {
        let emitter = emitter.clone();
        self.read(move |connection| dispatch::has_events_of(connection, emitter.as_str()))
            .await
    }
}

#[async_trait]
impl KeyValue for SqliteStore {
    async fn key_values(&self, runnable: &RunnableId) -> Result<Map<String, Value>, StoreError> {
        let id = runnable.clone();
        self.read(move |connection| key_values(connection, id.as_str()))
            .await
    }

    async fn dedupe_state(
        &self,
        runnable: &RunnableId,
    ) -> Result<Option<dedupe::State>, StoreError> {
        let id = runnable.clone();
        self.read(move |connection| emitters::dedupe_state(connection, id.as_str()))
            .await
    }
}

fn key_values(connection: &Connection, id: &str) -> Result<Map<String, Value>, StoreError> {
    let failed = failed("reading the key-value store");
    let mut statement = connection
        .prepare_cached("SELECT key, value FROM key_values WHERE runnable_id = ? ORDER BY key")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let mut map = Map::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        map.insert(get(row, "key")?, crate::row::json(row, "value")?);
    }
    Ok(map)
}

/// The condition for a channel filter on `?2`, and its value.
fn filter(channels: &ChannelFilter) -> (String, String) {
    match channels {
        ChannelFilter::Class(class) => (format!("class = {}", class.code()), String::new()),
        ChannelFilter::Named(channel) => (
            format!("class = {} AND channel = ?2", channel.class().code()),
            channel.name().to_owned(),
        ),
    }
}

fn events(
    connection: &Connection,
    emitter: &EmitterId,
    channels: &ChannelFilter,
    page: &PageRequest<EventId>,
) -> Result<Page<Event>, StoreError> {
    let failed = failed("reading events");
    let (of_channels, channel) = filter(channels);
    let matched = format!("emitter_id = ?1 AND {of_channels} AND ?2 IS NOT NULL AND {NOT_DELETED}");
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM events WHERE {matched}"))
        .and_then(|mut statement| {
            statement.query_row([emitter.as_str(), &channel], |row| row.get(0))
        })
        .map_err(&failed)?;
    let (bound, order, from) = match page.position {
        Position::First => (
            "(ms, sequence) <= (?3, ?4)",
            "DESC",
            EventId {
                ms: i64::MAX as u64,
                sequence: u32::MAX,
            },
        ),
        Position::After(after) => ("(ms, sequence) < (?3, ?4)", "DESC", after),
        Position::Before(before) => ("(ms, sequence) > (?3, ?4)", "ASC", before),
    };
    let sql = format!(
        "SELECT * FROM events WHERE {matched} AND {bound} ORDER BY ms {order}, sequence {order} LIMIT ?5"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let parameters = params![
        emitter.as_str(),
        channel,
        signed(from.ms),
        from.sequence,
        page.limit
    ];
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(event_row::event(row)?);
    }
    if order == "ASC" {
        items.reverse();
    }
    Ok(Page {
        total_count: total.unsigned_abs(),
        items,
    })
}
