//! The tail: reading the whole log in the order of appending.

use headwater_model::channel::ChannelClass;
use headwater_store::{Appended, LogPosition, StoreError, Tail};

use crate::{
    connection::{Connection, failed},
    event_row::{self, NOT_DELETED},
    row::{parsed, signed, unsigned},
};

/// The bytes of data read at once: large events are read in smaller steps.
const STEP_BYTES: usize = 8 * 1024 * 1024;

pub(crate) async fn end(connection: &Connection) -> Result<LogPosition, StoreError> {
    // Positions of deleted events are not reused, so that the last remaining one suffices.
    let end: i64 = connection
        .value("SELECT coalesce(max(position), 0) FROM events", &[])
        .await
        .map_err(failed("looking for the end of the log"))?;
    Ok(LogPosition(end.unsigned_abs()))
}

pub(crate) async fn after(
    connection: &Connection,
    after: LogPosition,
    limit: u32,
) -> Result<Tail, StoreError> {
    let failed = failed("reading along the log");
    let end = end(connection).await?.max(after);
    let (mut events, mut bytes) = (Vec::new(), 0);
    let rows = connection
        .query(
            &format!(
                "SELECT * FROM (
                     SELECT *, sum(octet_length(event)) OVER before AS bytes_before FROM events
                     WHERE position > $1 AND position <= $2 AND class <> {scheduled} AND {NOT_DELETED}
                     WINDOW before AS (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                     ORDER BY position LIMIT $3) AS next
                 WHERE coalesce(bytes_before, 0) < {STEP_BYTES} ORDER BY position",
                scheduled = ChannelClass::Scheduled.code(),
            ),
            &[&signed(after.0), &signed(end.0), &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    for row in &rows {
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
