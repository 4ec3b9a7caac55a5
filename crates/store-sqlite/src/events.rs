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
use rusqlite::{Connection, params};

use crate::{
    connection::failed,
    counted_events,
    event_row::{self, NOT_DELETED},
    row::{get, signed, trace, unsigned_opt},
};

/// A channel filter in SQL.
pub(crate) struct Filter<'a> {
    class: ChannelClass,
    /// The channel, if it is one of several in its class.
    named: Option<&'a str>,
    /// The index that has these events in the order of their ids.
    pub(crate) index: &'static str,
    /// The condition, on the channel as `?2` too.
    pub(crate) condition: String,
}

impl<'a> Filter<'a> {
    pub(crate) fn of(channels: &'a ChannelFilter) -> Self {
        let (class, named) = match channels {
            ChannelFilter::Class(class) => (*class, None),
            ChannelFilter::Named(channel) => (channel.class(), Some(channel.name())),
        };
        let named = named.filter(|_| class == ChannelClass::Ordinary);
        let (index, of_channel) = match named {
            None => ("events_by_id", "?2 IS NOT NULL"),
            Some("") => ("events_by_id", "events.channel = ?2"),
            // In the words of the index.
            Some(_) => (
                "events_by_channel",
                "events.channel <> '' AND events.channel = ?2",
            ),
        };
        Self {
            class,
            named,
            index,
            condition: format!("events.class = {} AND {of_channel}", class.code()),
        }
    }

    /// The channel, `?2`.
    pub(crate) fn channel(&self) -> &'a str {
        self.named.unwrap_or_default()
    }
}

/// The number of events that a requested deletion covers but has not reached yet.
fn hidden(connection: &Connection, emitter: &str, filter: &Filter<'_>) -> Result<i64, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM (
                 SELECT DISTINCT events.position
                 FROM deletions JOIN events ON events.emitter_id = deletions.emitter_id
                      AND events.class = deletions.class
                      AND (events.ms, events.sequence) >= (start_ms, start_sequence)
                      AND (events.ms, events.sequence) <= (end_ms, end_sequence)
                 WHERE deletions.emitter_id = ?1
                   AND (deletions.channel IS NULL OR deletions.channel = events.channel)
                   AND events.position <= up_to_position
                   AND {})",
            filter.condition
        ))
        .and_then(|mut statement| {
            statement.query_row([emitter, filter.channel()], |row| row.get(0))
        })
        .map_err(failed("counting events to be deleted"))
}

/// The events of emitter `?1` within a bound on `?3` and `?4`, `?5` at most.
fn sql(filter: &Filter<'_>, bound: &str, order: &str) -> String {
    let Filter {
        index, condition, ..
    } = filter;
    format!(
        "SELECT * FROM events INDEXED BY {index}
         WHERE events.emitter_id = ?1 AND {condition} AND {bound} AND {NOT_DELETED}
         ORDER BY ms {order}, sequence {order} LIMIT ?5"
    )
}

pub(crate) fn page(
    connection: &Connection,
    emitter: &EmitterId,
    channels: &ChannelFilter,
    page: &PageRequest<EventId>,
) -> Result<Page<Event>, StoreError> {
    let failed = failed("reading events");
    let filter = Filter::of(channels);
    let total = counted_events::of(connection, emitter.as_str(), filter.class, filter.named)?
        - hidden(connection, emitter.as_str(), &filter)?;
    let (bound, order, from) = match page.position {
        Position::First => (
            "(ms, sequence) <= (?3, ?4)",
            "DESC",
            EventId {
                ms: EpochMs(i64::MAX as u64),
                sequence: u32::MAX,
            },
        ),
        Position::After(after) => ("(ms, sequence) < (?3, ?4)", "DESC", after),
        Position::Before(before) => ("(ms, sequence) > (?3, ?4)", "ASC", before),
    };
    let sql = sql(&filter, bound, order);
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let parameters = params![
        emitter.as_str(),
        filter.channel(),
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

/// An event of any class: the index of ids has each apart.
pub(crate) fn by_id(
    connection: &Connection,
    of: &EventRef,
) -> Result<Option<LoggedEvent>, StoreError> {
    let failed = failed("reading an event");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT events.*, (SELECT request_id FROM runs WHERE runs.id = events.run_id) AS request_id
             FROM events INDEXED BY events_by_id
             WHERE emitter_id = ?1 AND class IN ({ordinary}, {errors}, {logs}, {scheduled}) AND ms = ?2
                   AND sequence = ?3 AND {NOT_DELETED}",
            ordinary = ChannelClass::Ordinary.code(),
            errors = ChannelClass::Errors.code(),
            logs = ChannelClass::Logs.code(),
            scheduled = ChannelClass::Scheduled.code(),
        ))
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![
            of.emitter.as_str(),
            signed(of.id.ms),
            of.id.sequence
        ])
        .map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else {
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

#[cfg(test)]
mod tests {
    use headwater_model::channel::Channel;

    use super::*;
    use crate::{connection, migration};

    #[test]
    fn a_page_is_read_from_an_index_in_its_order() {
        let connection = connection::in_memory().unwrap();
        migration::run(&connection).unwrap();
        for (channels, index) in [
            (
                ChannelFilter::Class(ChannelClass::Ordinary),
                "events_by_id (emitter_id=? AND class=? AND (ms,sequence)<(?,?))",
            ),
            (
                ChannelFilter::Named(Channel::errors()),
                "events_by_id (emitter_id=? AND class=? AND (ms,sequence)<(?,?))",
            ),
            (
                ChannelFilter::Named(Channel::named("orders")),
                "events_by_channel (emitter_id=? AND channel=? AND (ms,sequence)<(?,?))",
            ),
        ] {
            let sql = sql(&Filter::of(&channels), "(ms, sequence) < (?3, ?4)", "DESC");
            let mut statement = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let steps = statement.raw_query().mapped(|row| row.get("detail"));
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(steps[0].ends_with(index), "{steps:?}");
            assert!(
                !steps.iter().any(|step| step.contains("B-TREE")),
                "{steps:?}"
            );
        }
    }
}
