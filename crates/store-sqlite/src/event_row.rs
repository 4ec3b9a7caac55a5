//! Events as rows keep them.

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::{Event, EventRef},
    id::EventId,
};
use headwater_store::StoreError;
use rusqlite::Row;

use crate::row::{get, json_opt, parsed_opt, raw, unsigned};

/// Hides what a requested deletion covers but has not reached yet.
pub(crate) const NOT_DELETED: &str = "NOT EXISTS (
    SELECT 1 FROM deletions
    WHERE deletions.emitter_id = events.emitter_id
      AND deletions.class = events.class
      AND (deletions.channel IS NULL OR deletions.channel = events.channel)
      AND (events.ms, events.sequence) >= (start_ms, start_sequence)
      AND (events.ms, events.sequence) <= (end_ms, end_sequence)
      AND events.position <= up_to_position)";

/// The newest event of an emitter on its ordinary channels, as the end of a query of its columns. `emitter`: its id, as SQL.
pub(crate) fn last_event(emitter: &str) -> String {
    format!(
        "FROM events INDEXED BY events_by_id
         WHERE events.emitter_id = {emitter} AND events.class = {} AND {NOT_DELETED}
         ORDER BY events.ms DESC, events.sequence DESC LIMIT 1",
        ChannelClass::Ordinary.code()
    )
}

pub(crate) fn event(row: &Row<'_>) -> Result<Event, StoreError> {
    Ok(Event {
        id: EventId {
            ms: unsigned(row, "ms")?,
            sequence: get(row, "sequence")?,
        },
        indexed_at_ms: unsigned(row, "indexed_at_ms")?,
        channel: Channel::named(get::<String>(row, "channel")?),
        event: raw(row, "event")?,
        key: json_opt(row, "key")?,
        summary: get(row, "summary")?,
        ts: get(row, "ts")?,
        run_id: parsed_opt(row, "run_id")?,
    })
}

/// The event that caused an invocation or a run: its columns `cause_…`.
pub(crate) fn cause(row: &Row<'_>) -> Result<Option<EventRef>, StoreError> {
    let Some(emitter) = parsed_opt(row, "cause_emitter_id")? else {
        return Ok(None);
    };
    let id = EventId {
        ms: unsigned(row, "cause_ms")?,
        sequence: get(row, "cause_sequence")?,
    };
    Ok(Some(EventRef { emitter, id }))
}
