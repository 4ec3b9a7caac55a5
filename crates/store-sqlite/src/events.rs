//! Pages of an emitter's events.

use headwater_model::{
    event::Event,
    id::{EmitterId, EventId},
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{ChannelFilter, StoreError};
use rusqlite::{Connection, params};

use crate::{
    connection::failed,
    event_row::{self, NOT_DELETED},
    row::signed,
};

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

pub(crate) fn page(
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
                ms: EpochMs(i64::MAX as u64),
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
