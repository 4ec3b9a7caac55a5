//! Dispatch: from events past the cursor to invocations of the sources and deliveries to the webhooks that subscribe
//! to them.

pub(crate) mod again;
mod cursor;
pub(crate) mod held;
mod listeners;
mod pairs;
mod passing;
mod room;
mod step;
mod waiting;

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};
use rusqlite::Connection;

use self::{cursor::Cursor, step::Step};
use crate::connection::failed;

/// Whether dispatch has events to pass.
pub(crate) fn has_events(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM events WHERE position > (SELECT position FROM dispatch_cursor))
                    OR EXISTS (SELECT 1 FROM held_subscriptions)",
        )
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("looking for events to dispatch"))
}

/// Whether dispatch has events of that emitter to pass.
pub(crate) fn has_events_of(connection: &Connection, emitter: &str) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events INDEXED BY events_by_id
             WHERE emitter_id = ? AND position > (SELECT position FROM dispatch_cursor) LIMIT 1",
        )
        .and_then(|mut statement| statement.exists([emitter]))
        .map_err(failed("looking for an emitter's events to dispatch"))
}

/// The cursor moves in the same transaction, so that each pair of event and subscription is passed on exactly once.
pub(crate) fn run(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
    queued_max: u32,
) -> Result<Progress, StoreError> {
    let mut step = Step::begin(connection, now_ms, limit, queued_max)?;
    let mut cursor = Cursor::read(connection)?;
    // Those that wait came first.
    let mut more = step.pass_held_on(cursor.position)?;
    while let Some(event) = step.next(cursor.position)? {
        if step.passed == limit {
            more = true;
            break;
        }
        if let Some(partial) = step.pass_on(&event, cursor.partial_of(event.position))? {
            more = true;
            cursor.partial = partial;
            break;
        }
        step.passed += 1;
        cursor = Cursor::behind(event.position);
    }
    cursor.write(connection)?;
    let behind = match more {
        true => events_behind(connection, cursor.position)?,
        false => 0,
    };
    Ok(Progress {
        behind,
        done: u64::from(step.passed),
        more,
        next_due_ms: None,
        woken: step.woken.into_iter().collect(),
        woken_webhooks: step.woken_webhooks.into_iter().collect(),
    })
}

/// Counts positions in the log instead of events, which needs only the last one.
fn events_behind(connection: &Connection, position: i64) -> Result<u64, StoreError> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(position) FROM events")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("looking for events to dispatch"))?;
    Ok(last.map_or(0, |last| last.saturating_sub(position).unsigned_abs()))
}
