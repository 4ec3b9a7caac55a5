//! The events of a run: its emitter's events with its id, within the range of ids that it can have used.

use headwater_model::{channel::ChannelClass, event::Event, id::EventId, time::EpochMs};
use headwater_store::{RunStretch, StoreError};

use crate::{
    connection::{Connection, failed},
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

/// Those of all classes.
pub(crate) async fn all(
    connection: &Connection,
    stretch: &RunStretch,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    of(connection, stretch, &CLASSES, limit).await
}

/// Those of channels that users name.
pub(crate) async fn ordinary(
    connection: &Connection,
    stretch: &RunStretch,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    of(connection, stretch, &[ChannelClass::Ordinary], limit).await
}

async fn of(
    connection: &Connection,
    stretch: &RunStretch,
    classes: &[ChannelClass],
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    let until = stretch.until.unwrap_or(OPEN);
    let arms = classes.iter().map(|class| {
        format!(
            "SELECT * FROM events WHERE emitter_id = $1 AND class = {} AND ms >= $2
                                  AND (ms, sequence) <= ($3, $4) AND run_id = $5 AND {NOT_DELETED}",
            class.code()
        )
    });
    let arms: Vec<String> = arms.collect();
    let sql = format!(
        "{} ORDER BY ms, sequence LIMIT $6",
        arms.join(" UNION ALL ")
    );
    let failed = failed("reading the events of a run");
    let rows = connection
        .query(
            &sql,
            &[
                &stretch.runnable.as_str(),
                &signed(stretch.since_ms),
                &signed(until.ms),
                &signed(until.sequence),
                &stretch.run_id.as_str(),
                &signed(limit),
            ],
        )
        .await
        .map_err(&failed)?;
    let mut events = Vec::new();
    for row in &rows {
        events.push(event_row::event(row)?);
    }
    Ok(events)
}
