//! The events of a run: its emitter's events with its id, within the range of ids that it can have used.

use headwater_model::{channel::ChannelClass, event::Event, id::EventId, time::EpochMs};
use headwater_store::{RunRecord, StoreError};
use rusqlite::{Connection, params};

use crate::{
    connection::failed,
    event_row::{self, NOT_DELETED},
    row::signed,
};

/// The classes in which a run emits: each is a range of the index of ids.
const CLASSES: [ChannelClass; 4] = [
    ChannelClass::Ordinary,
    ChannelClass::Errors,
    ChannelClass::Logs,
    ChannelClass::Scheduled,
];

/// A text that sorts after every event id.
const OPEN: EventId = EventId {
    ms: EpochMs(i64::MAX as u64),
    sequence: u32::MAX,
};

pub(crate) fn of(
    connection: &Connection,
    run: &RunRecord,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    // A clock that steps back gives the end a time before the beginning.
    let ended = &run.ended;
    let from_ms = ended
        .queued_at_ms
        .min(ended.started_at_ms)
        .min(ended.ended_at_ms);
    let to = match (ended.has_scheduled, run.last_event) {
        (true, _) => OPEN,
        (false, Some(last)) => last,
        (false, None) => return Ok(Vec::new()),
    };
    let arms = CLASSES.map(|class| {
        format!(
            "SELECT * FROM events WHERE emitter_id = ?1 AND class = {} AND ms >= ?2
                                  AND (ms, sequence) <= (?3, ?4) AND run_id = ?5 AND {NOT_DELETED}",
            class.code()
        )
    });
    let sql = format!(
        "{} ORDER BY ms, sequence LIMIT ?6",
        arms.join(" UNION ALL ")
    );
    let failed = failed("reading the events of a run");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![
            run.runnable.as_str(),
            signed(from_ms),
            signed(to.ms),
            to.sequence,
            run.id.as_str(),
            limit
        ])
        .map_err(&failed)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        events.push(event_row::event(row)?);
    }
    Ok(events)
}
