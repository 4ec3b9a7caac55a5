//! Events past the cursor, without their data.

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::EventRef,
    id::EventId,
    limits::HOPS_MAX,
};
use headwater_store::StoreError;
use rusqlite::{Connection, Row, params};
use serde_json::value::RawValue;

use crate::{
    connection::failed,
    event_row::NOT_DELETED,
    row::{get, raw, signed, unsigned},
};

/// An event past the cursor, without its data.
pub(super) struct Passing {
    pub(super) position: i64,
    pub(super) emitter: String,
    /// The user that owns the emitter; `None` when it is deleted.
    pub(super) owner: Option<String>,
    pub(super) workspace: Option<String>,
    pub(super) channel: Channel,
    pub(super) hops: u32,
    pub(super) indexed_at_ms: i64,
    /// Of its data.
    pub(super) bytes: u64,
}

impl Passing {
    /// Whether sources and workflows that listen get it.
    pub(super) fn is_passed_on(&self) -> bool {
        self.channel.class() != ChannelClass::Scheduled && self.hops < HOPS_MAX
    }
}

/// The first ones after a position.
pub(super) fn after(
    connection: &Connection,
    position: i64,
    limit: u32,
) -> Result<Vec<Passing>, StoreError> {
    let failed = failed("looking for events to dispatch");
    let mut statement = connection
        .prepare_cached(
            "SELECT events.position, emitter_id, channel, hops, indexed_at_ms, user_id, workspace_id,
                    octet_length(event) AS bytes
             FROM events LEFT JOIN emitters USING (emitter_id)
             WHERE events.position > ? ORDER BY events.position LIMIT ?",
        )
        .map_err(&failed)?;
    let mut rows = statement.query((position, limit)).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(passing(row)?);
    }
    Ok(found)
}

/// An event of the log, unless it is gone.
pub(super) fn of(connection: &Connection, event: &EventRef) -> Result<Option<Passing>, StoreError> {
    let failed = failed("looking for an event to pass on");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT events.position, emitter_id, channel, hops, indexed_at_ms, user_id, workspace_id,
                    octet_length(event) AS bytes
             FROM events LEFT JOIN emitters USING (emitter_id)
             WHERE emitter_id = ? AND class IN ({ordinary}, {errors}, {logs}, {scheduled}) AND ms = ? AND sequence = ?
                   AND {NOT_DELETED}",
            ordinary = ChannelClass::Ordinary.code(),
            errors = ChannelClass::Errors.code(),
            logs = ChannelClass::Logs.code(),
            scheduled = ChannelClass::Scheduled.code(),
        ))
        .map_err(&failed)?;
    let id = &event.id;
    let of = params![event.emitter.as_str(), signed(id.ms), id.sequence];
    let mut rows = statement.query(of).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(passing).transpose()
}

fn passing(row: &Row<'_>) -> Result<Passing, StoreError> {
    Ok(Passing {
        position: get(row, "position")?,
        emitter: get(row, "emitter_id")?,
        owner: get(row, "user_id")?,
        workspace: get(row, "workspace_id")?,
        channel: Channel::named(get::<String>(row, "channel")?),
        hops: get(row, "hops")?,
        indexed_at_ms: get(row, "indexed_at_ms")?,
        bytes: unsigned(row, "bytes")?,
    })
}

/// The id and the data of an event of the log, unless it is gone.
pub(super) fn logged(
    connection: &Connection,
    position: i64,
) -> Result<Option<(EventId, Box<RawValue>)>, StoreError> {
    let failed = failed("reading an event");
    let mut statement = connection
        .prepare_cached("SELECT ms, sequence, event FROM events WHERE position = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([position]).map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else {
        return Ok(None);
    };
    let id = EventId {
        ms: unsigned(row, "ms")?,
        sequence: get(row, "sequence")?,
    };
    Ok(Some((id, raw(row, "event")?)))
}
