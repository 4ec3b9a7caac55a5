//! Dispatch: from events past the cursor to invocations of the sources that subscribe to them.

use headwater_model::{
    channel::ChannelClass,
    id::{InvocationId, SourceId},
    limits::HOPS_MAX,
};
use headwater_store::{Progress, StoreError, Trigger};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::failed,
    queue,
    row::{get, name_of, parsed, signed},
};

/// Whether dispatch has anything to pass.
pub(crate) fn has_events(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events WHERE position > (SELECT position FROM dispatch_cursor) LIMIT 1",
        )
        .and_then(|mut statement| statement.exists(()))
        .map_err(failed("looking for events to dispatch"))
}

pub(crate) fn run(
    connection: &Connection,
    now_ms: u64,
    limit: u32,
) -> Result<Progress, StoreError> {
    let failed = failed("dispatching");
    let (passed, last): (u32, Option<i64>) = connection
        .prepare_cached(
            "SELECT count(*), max(position) FROM (
                 SELECT position FROM events WHERE position > (SELECT position FROM dispatch_cursor)
                 ORDER BY position LIMIT ?)",
        )
        .and_then(|mut statement| {
            statement.query_row([limit], |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .map_err(&failed)?;
    let Some(last) = last else {
        return Ok(Progress::default());
    };
    let woken = pass_on(connection, last, now_ms)?;
    connection
        .prepare_cached("UPDATE dispatch_cursor SET position = ?")
        .and_then(|mut statement| statement.execute([last]))
        .map_err(&failed)?;
    Ok(Progress {
        done: u64::from(passed),
        more: passed == limit,
        next_due_ms: None,
        woken,
    })
}

/// Queues an invocation per event up to `last` and subscribing source. The cursor moves in the same
/// transaction, so that each pair is passed on exactly once.
fn pass_on(connection: &Connection, last: i64, now_ms: u64) -> Result<Vec<SourceId>, StoreError> {
    let failed = failed("dispatching");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT events.position AS event_position, subscriptions.position AS subscription_position,
                    events.event, events.hops, subscriptions.listener
             FROM events
             JOIN sources AS emitter ON emitter.id = events.emitter_id
             JOIN subscriptions ON subscriptions.channel = events.channel
                  AND subscriptions.emitter IN (emitter.id, 'dc_*', emitter.user_id, emitter.workspace_id)
                  AND subscriptions.since < events.position
             JOIN sources AS listening ON listening.id = subscriptions.listener
             WHERE events.position > (SELECT position FROM dispatch_cursor) AND events.position <= ?1
               AND events.class <> {scheduled} AND events.hops < {HOPS_MAX}
               AND (events.class = {ordinary} OR subscriptions.listener <> events.emitter_id)
               AND listening.state IN ('active', 'updating', 'deploying')
               AND (subscriptions.user_id = emitter.user_id
                    OR subscriptions.emitter IN (emitter.id, emitter.workspace_id) AND EXISTS (
                        SELECT 1 FROM memberships WHERE memberships.workspace_id = emitter.workspace_id
                                                    AND memberships.user_id = subscriptions.user_id))
             ORDER BY events.position, subscriptions.position",
            scheduled = ChannelClass::Scheduled.code(),
            ordinary = ChannelClass::Ordinary.code(),
        ))
        .map_err(&failed)?;
    let mut rows = statement.query([last]).map_err(&failed)?;
    let mut woken: Vec<SourceId> = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let listener: SourceId = parsed(row, "listener")?;
        enqueue(connection, row, &listener, now_ms)?;
        if !woken.contains(&listener) {
            woken.push(listener);
        }
    }
    Ok(woken)
}

fn enqueue(
    connection: &Connection,
    row: &Row<'_>,
    listener: &SourceId,
    now_ms: u64,
) -> Result<(), StoreError> {
    let pair = (
        get(row, "event_position")?,
        get(row, "subscription_position")?,
    );
    let id = queue::invocation_id(now_ms, pair);
    let event: String = get(row, "event")?;
    let hops: u32 = get(row, "hops")?;
    insert(connection, &id, listener, (&event, hops + 1), now_ms)
}

fn insert(
    connection: &Connection,
    id: &InvocationId,
    listener: &SourceId,
    (event, hops): (&str, u32),
    now_ms: u64,
) -> Result<(), StoreError> {
    let trigger = name_of(&Trigger::Event)?;
    connection
        .prepare_cached(
            "INSERT INTO invocations (id, source_id, trigger, event, hops, queued_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .and_then(|mut statement| {
            statement.execute(params![id.as_str(), listener.as_str(), trigger, event, hops, signed(now_ms)])
        })
        .map_err(failed("queueing an event for its listener"))
        .map(drop)
}
