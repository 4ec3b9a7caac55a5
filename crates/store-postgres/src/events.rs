//! An emitter's events: one of them, and pages.

use std::sync::Arc;

use headwater_model::{
    channel::ChannelClass,
    event::{Event, EventRef},
    id::{EmitterId, EventId},
    origin::Origin,
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{ChannelFilter, LoggedEvent, StoreError};

use crate::{
    connection::{Connection, failed},
    counted_events,
    event_row::{self, NOT_DELETED},
    row::{get, signed, trace, unsigned_opt},
};

/// A channel filter in SQL.
pub(crate) struct Filter<'a> {
    class: ChannelClass,
    /// The channel, if it is one of several in its class.
    named: Option<&'a str>,
    /// The condition, in the words of the index that has these events in the order of their ids, on the channel as `$2`
    /// too.
    pub(crate) condition: String,
}

impl<'a> Filter<'a> {
    pub(crate) fn of(channels: &'a ChannelFilter) -> Self {
        let (class, named) = match channels {
            ChannelFilter::Class(class) => (*class, None),
            ChannelFilter::Named(channel) => (channel.class(), Some(channel.name())),
        };
        let named = named.filter(|_| class == ChannelClass::Ordinary);
        let of_channel = match named {
            None => "$2::text IS NOT NULL",
            Some("") => "events.channel = $2",
            Some(_) => {
                "events.channel <> '' AND hash_of(events.channel) = hash_of($2) AND events.channel = $2"
            }
        };
        Self {
            class,
            named,
            condition: format!("events.class = {} AND {of_channel}", class.code()),
        }
    }

    /// The channel, `$2`.
    pub(crate) fn channel(&self) -> &'a str {
        self.named.unwrap_or_default()
    }
}

/// The number of events that a requested deletion covers but has not reached yet.
async fn hidden(
    connection: &Connection,
    emitter: &str,
    filter: &Filter<'_>,
) -> Result<i64, StoreError> {
    connection
        .value(
            &format!(
                "SELECT count(*) FROM (
                 SELECT DISTINCT events.position
                 FROM deletions JOIN events ON events.emitter_id = deletions.emitter_id
                      AND events.class = deletions.class
                      AND (events.ms, events.sequence) >= (start_ms, start_sequence)
                      AND (events.ms, events.sequence) <= (end_ms, end_sequence)
                 WHERE deletions.emitter_id = $1
                   AND (deletions.channel IS NULL OR deletions.channel = events.channel)
                   AND events.position <= up_to_position
                   AND {}) AS covered",
                filter.condition
            ),
            &[&emitter, &filter.channel()],
        )
        .await
        .map_err(failed("counting events to be deleted"))
}

/// The events of emitter `$1` within a bound on `$3` and `$4`, `$5` at most.
fn sql(filter: &Filter<'_>, bound: &str, order: &str) -> String {
    let condition = &filter.condition;
    format!(
        "SELECT * FROM events
         WHERE events.emitter_id = $1 AND {condition} AND {bound} AND {NOT_DELETED}
         ORDER BY ms {order}, sequence {order} LIMIT $5"
    )
}

pub(crate) async fn page(
    connection: &Connection,
    emitter: &EmitterId,
    channels: &ChannelFilter,
    page: &PageRequest<EventId>,
) -> Result<Page<Event>, StoreError> {
    let failed = failed("reading events");
    let filter = Filter::of(channels);
    let total = counted_events::of(connection, emitter.as_str(), filter.class, filter.named)
        .await?
        - hidden(connection, emitter.as_str(), &filter).await?;
    let (bound, order, from) = match page.position {
        Position::First => (
            "(ms, sequence) <= ($3, $4)",
            "DESC",
            EventId {
                ms: EpochMs(i64::MAX as u64),
                sequence: u32::MAX,
            },
        ),
        Position::After(after) => ("(ms, sequence) < ($3, $4)", "DESC", after),
        Position::Before(before) => ("(ms, sequence) > ($3, $4)", "ASC", before),
    };
    let sql = sql(&filter, bound, order);
    let rows = connection
        .query(
            &sql,
            &[
                &emitter.as_str(),
                &filter.channel(),
                &signed(from.ms),
                &signed(from.sequence),
                &signed(page.limit),
            ],
        )
        .await
        .map_err(&failed)?;
    let mut items = Vec::new();
    for row in &rows {
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

/// An event of any class: the index of ids has each apart.
pub(crate) async fn by_id(
    connection: &Connection,
    of: &EventRef,
) -> Result<Option<LoggedEvent>, StoreError> {
    let failed = failed("reading an event");
    let rows = connection
        .query(
            &format!(
                "SELECT events.*, (SELECT request_id FROM runs WHERE runs.id = events.run_id) AS request_id
             FROM events
             WHERE emitter_id = $1 AND class IN ({ordinary}, {errors}, {logs}, {scheduled}) AND ms = $2
                   AND sequence = $3 AND {NOT_DELETED}",
                ordinary = ChannelClass::Ordinary.code(),
                errors = ChannelClass::Errors.code(),
                logs = ChannelClass::Logs.code(),
                scheduled = ChannelClass::Scheduled.code(),
            ),
            &[&of.emitter.as_str(), &signed(of.id.ms), &signed(of.id.sequence)],
        )
        .await
        .map_err(&failed)?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let request_id: Option<String> = get(row, "request_id")?;
    Ok(Some(LoggedEvent {
        event: event_row::event(row)?,
        deliver_at_ms: unsigned_opt(row, "deliver_at_ms")?,
        origin: Origin {
            request_id: request_id.map(Arc::from),
            trace: trace(row)?,
        },
    }))
}
