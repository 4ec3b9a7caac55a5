//! Dispatch: from events past the cursor to invocations of the sources and deliveries to the webhooks that subscribe
//! to them.

pub(crate) mod again;
mod cursor;
pub(crate) mod held;
mod listeners;
mod pairs;
mod passed;
mod passing;
mod room;
mod step;
mod waiting;

use futures::try_join;
use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};

use self::{cursor::Cursor, step::Step};
use crate::connection::{Connection, failed};

/// Whether dispatch has events to pass. The last position is read from its index: a plan that looks for the first event past
/// the cursor may read the whole log before it.
pub(crate) async fn has_events(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .value(
            "SELECT coalesce((SELECT max(position) FROM events) > (SELECT position FROM dispatch_cursor), FALSE)
                    OR EXISTS (SELECT 1 FROM held_subscriptions)",
            &[],
        )
        .await
        .map_err(failed("looking for events to dispatch"))
}

/// Whether dispatch has events of that emitter to pass.
pub(crate) async fn has_events_of(
    connection: &Connection,
    emitter: &str,
) -> Result<bool, StoreError> {
    connection
        .exists(
            "SELECT 1 FROM events
             WHERE emitter_id = $1 AND position > (SELECT position FROM dispatch_cursor) LIMIT 1",
            &[&emitter],
        )
        .await
        .map_err(failed("looking for an emitter's events to dispatch"))
}

/// The cursor moves in the same transaction, so that each pair of event and subscription is passed on exactly once.
pub(crate) async fn run(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
    queued_max: u32,
) -> Result<Progress, StoreError> {
    let (mut step, mut cursor) = try_join!(
        Step::begin(connection, now_ms, limit, queued_max),
        Cursor::read(connection)
    )?;
    // Those that wait came first.
    let mut more = step.pass_held_on(cursor.position).await?;
    while let Some(event) = step.next(cursor.position).await? {
        if step.passed == limit {
            more = true;
            break;
        }
        if let Some(partial) = step
            .pass_on(&event, cursor.partial_of(event.position))
            .await?
        {
            more = true;
            cursor.partial = partial;
            break;
        }
        step.passed += 1;
        cursor = Cursor::behind(event.position);
    }
    try_join!(step.write(), cursor.write(connection))?;
    let behind = match more {
        true => events_behind(connection, cursor.position).await?,
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
async fn events_behind(connection: &Connection, position: i64) -> Result<u64, StoreError> {
    let last: Option<i64> = connection
        .value("SELECT max(position) FROM events", &[])
        .await
        .map_err(failed("looking for events to dispatch"))?;
    Ok(last.map_or(0, |last| last.saturating_sub(position).unsigned_abs()))
}
