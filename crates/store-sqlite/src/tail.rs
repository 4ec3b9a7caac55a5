//! The tail: reading the whole log in the order of appending.

use headwater_model::channel::ChannelClass;
use headwater_store::{Appended, LogPosition, StoreError, Tail};
use rusqlite::{Connection, params};

use crate::{
    connection::failed,
    event_row::{self, NOT_DELETED},
    row::{parsed, signed, unsigned},
};

/// The bytes of data read at once: large events are read in smaller steps.
const STEP_BYTES: usize = 8 * 1024 * 1024;

pub(crate) fn end(connection: &Connection) -> Result<LogPosition, StoreError> {
    // Positions of deleted events are not reused, so that the last remaining one suffices.
    let end: i64 = connection
        .prepare_cached("SELECT coalesce(max(position), 0) FROM events")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("looking for the end of the log"))?;
    Ok(LogPosition(end.unsigned_abs()))
}

pub(crate) fn after(
    connection: &Connection,
    after: LogPosition,
    limit: u32,
) -> Result<Tail, StoreError> {
    let failed = failed("reading along the log");
    let end = end(connection)?.max(after);
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT * FROM events
             WHERE position > ? AND position <= ? AND class <> {scheduled} AND {NOT_DELETED}
             ORDER BY position LIMIT ?",
            scheduled = ChannelClass::Scheduled.code(),
        ))
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![signed(after.0), signed(end.0), limit])
        .map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let appended = Appended {
            position: LogPosition(unsigned(row, "position")?),
            emitter: parsed(row, "emitter_id")?,
            event: event_row::event(row)?,
        };
        let up_to = appended.position;
        bytes += appended.event.event.get().len();
        events.push(appended);
        if events.len() == limit as usize || bytes >= STEP_BYTES {
            return Ok(Tail { events, up_to });
        }
    }
    Ok(Tail { events, up_to: end })
}
