//! Appending to the event log: increasing ids, and notes for trimming.

use headwater_model::{event::NewEvent, id::EventId, time::EpochMs};
use headwater_store::{StoreError, classes_of};
use rusqlite::{Connection, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    counted_events::Change,
    emitters::{self, Moved},
    row::{signed, to_json},
};

/// The place where events are appended: after the last one of their emitter.
pub(crate) struct Place<'a> {
    pub(crate) emitter: &'a str,
    pub(crate) last: Option<EventId>,
    /// The run that emits them, if any.
    pub(crate) run_id: Option<&'a str>,
}

/// Appends events to an emitter's log outside of a commit, with the next ids. `run_id`: their run, if any.
pub(crate) fn alone(
    connection: &Connection,
    emitter: &str,
    run_id: Option<&str>,
    events: &[NewEvent],
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let place = Place {
        emitter,
        last: emitters::last_id(connection, emitter)?,
        run_id,
    };
    let last = insert(connection, &place, events, now_ms)?;
    let moved = Moved {
        last,
        dedupe: None,
        events: &Change::appended(events),
    };
    emitters::move_on(connection, emitter, &moved)?;
    for class in classes_of(events) {
        note_untrimmed(connection, emitter, class)?;
    }
    Ok(())
}

/// Writes events and returns the new last one of their emitter.
pub(crate) fn insert(
    connection: &Connection,
    place: &Place<'_>,
    events: &[NewEvent],
    now_ms: EpochMs,
) -> Result<Option<EventId>, StoreError> {
    let failed = failed("appending events");
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO events (emitter_id, ms, sequence, class, channel, event, key, summary, ts, hops,
                                 indexed_at_ms, deliver_at_ms, deliver_channel, traceparent, run_id)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .map_err(&failed)?;
    let mut last = place.last;
    for event in events {
        let id = EventId::next(last, now_ms);
        last = Some(id);
        let scheduled = event.scheduled.as_ref();
        insert
            .execute(params![
                place.emitter,
                signed(id.ms),
                id.sequence,
                event.channel.class().code(),
                event.channel.name(),
                event.event.get(),
                event.key.as_ref().map(to_json).transpose()?,
                event.summary,
                event.ts,
                event.hops,
                signed(now_ms),
                scheduled.map(|scheduled| signed(scheduled.deliver_at_ms)),
                scheduled.map(|scheduled| scheduled.channel.name()),
                event.trace.as_ref().map(ToString::to_string),
                place.run_id,
            ])
            .map_err(&failed)?;
    }
    Ok(last)
}

/// Notes that an emitter has events of a class that are newer than its last trim.
pub(crate) fn note_untrimmed(
    connection: &Connection,
    emitter: &str,
    class: u8,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO untrimmed (emitter_id, class) VALUES (?, ?)
             ON CONFLICT DO UPDATE SET waits_at = -1 WHERE waits_at <> -1",
            params![emitter, class],
        )
        .map_err(failed("noting what is to be trimmed"))
        .map(drop)
}
