//! Firing timers: the tick is queued and the timer moves on in the same transaction.

use headwater_model::id::SourceId;
use headwater_store::{Progress, StoreError, Trigger};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    connection::failed,
    queue,
    row::{get, name_of, parsed, signed, unsigned},
    sources,
};

/// A timer that is due.
struct Due {
    position: i64,
    source_id: SourceId,
    prop: String,
    event: String,
    next_ms: Option<u64>,
}

/// When the next timer is due.
pub(crate) fn next_due(connection: &Connection) -> Result<Option<u64>, StoreError> {
    let next: Option<i64> = connection
        .prepare_cached(
            "SELECT next_fire_at_ms FROM timers WHERE next_fire_at_ms IS NOT NULL ORDER BY next_fire_at_ms LIMIT 1",
        )
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)).optional())
        .map_err(failed("looking for timers"))?;
    Ok(next.map(i64::unsigned_abs))
}

pub(crate) fn fire(
    connection: &Connection,
    now_ms: u64,
    limit: u32,
) -> Result<Progress, StoreError> {
    let due = due(connection, now_ms, limit)?;
    let mut progress = Progress {
        more: due.len() == limit as usize,
        ..Progress::default()
    };
    for timer in due {
        let queued = queue_tick(connection, &timer, now_ms)?;
        connection
            .prepare_cached("UPDATE timers SET next_fire_at_ms = ? WHERE position = ?")
            .and_then(|mut statement| {
                statement.execute(params![timer.next_ms.map(signed), timer.position])
            })
            .map_err(failed("moving a timer on"))?;
        progress.done += 1;
        if queued && !progress.woken.contains(&timer.source_id) {
            progress.woken.push(timer.source_id);
        }
    }
    progress.next_due_ms = next_due(connection)?;
    Ok(progress)
}

fn due(connection: &Connection, now_ms: u64, limit: u32) -> Result<Vec<Due>, StoreError> {
    let failed = failed("looking for timers");
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM timers WHERE next_fire_at_ms IS NOT NULL AND next_fire_at_ms <= ?
             ORDER BY next_fire_at_ms LIMIT ?",
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![signed(now_ms), limit])
        .map_err(&failed)?;
    let mut due = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let schedule = sources::schedule(row)?;
        let due_ms = unsigned(row, "next_fire_at_ms")?;
        due.push(Due {
            position: get(row, "position")?,
            source_id: parsed(row, "source_id")?,
            prop: get(row, "prop")?,
            event: schedule.tick_event(due_ms).to_string(),
            next_ms: schedule.next_after(due_ms, now_ms),
        });
    }
    Ok(due)
}

/// Queues the tick, unless an earlier one of the timer still waits. While one runs, one more waits.
fn queue_tick(connection: &Connection, timer: &Due, now_ms: u64) -> Result<bool, StoreError> {
    let id = queue::invocation_id(now_ms, (timer.position, 0));
    let trigger = name_of(&Trigger::Timer)?;
    let queued = connection
        .prepare_cached(
            "INSERT INTO invocations (id, source_id, trigger, timer_prop, event, hops, queued_at_ms)
             SELECT ?1, ?2, ?3, ?4, ?5, 0, ?6
             WHERE NOT EXISTS (SELECT 1 FROM invocations
                               WHERE source_id = ?2 AND timer_prop = ?4 AND lease_epoch IS NULL)",
        )
        .and_then(|mut statement| {
            let source_id = timer.source_id.as_str();
            statement.execute(params![id.as_str(), source_id, trigger, timer.prop, timer.event, signed(now_ms)])
        })
        .map_err(failed("queueing a tick"))?;
    Ok(queued > 0)
}
