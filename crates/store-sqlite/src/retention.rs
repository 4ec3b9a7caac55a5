//! Retention: keeps the newest events of each emitter and channel class, and deletes the others.

use headwater_store::{LogPosition, Progress, StoreError};
use rusqlite::{Connection, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    counted_events,
    dispatch::held,
    event_row::NOT_DELETED,
    row::signed,
};

/// One emitter's events of one class.
struct Log {
    emitter_id: String,
    class: u8,
}

/// Whether a step has anything to look at.
pub(crate) fn has_work(
    connection: &Connection,
    keep: u32,
    read_up_to: Option<LogPosition>,
) -> Result<bool, StoreError> {
    let passed = passed(connection, read_up_to)?;
    Ok(keep != before(connection)? || !untrimmed(connection, passed, 1)?.is_empty())
}

pub(crate) fn trim(
    connection: &Connection,
    keep: u32,
    limit: u32,
    read_up_to: Option<LogPosition>,
) -> Result<Progress, StoreError> {
    restart_if_fewer(connection, keep)?;
    let passed = passed(connection, read_up_to)?;
    let logs = untrimmed(connection, passed, limit)?;
    let mut left = limit;
    for log in &logs {
        let passed = match held::up_to(connection, &log.emitter_id)? {
            Some(held) => passed.min(held),
            None => passed,
        };
        let deleted = delete_beyond(connection, log, keep, passed, left)?;
        left -= deleted;
        if left == 0 {
            break;
        }
        if has_waiting(connection, log, passed)? {
            wait_behind(connection, log, passed)?;
        } else {
            finish(connection, log)?;
        }
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0 || logs.len() == limit as usize,
        ..Progress::default()
    })
}

/// The position up to which neither dispatch nor a reader needs the events.
fn passed(connection: &Connection, read_up_to: Option<LogPosition>) -> Result<i64, StoreError> {
    let dispatched: i64 = connection
        .prepare_cached("SELECT position FROM dispatch_cursor")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("beginning to trim"))?;
    Ok(read_up_to.map_or(dispatched, |read| dispatched.min(signed(read.0))))
}

/// The number of events to keep of the trimming before.
fn before(connection: &Connection) -> Result<u32, StoreError> {
    connection
        .prepare_cached("SELECT keep FROM retention")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("beginning to trim"))
}

/// Restarts trimming if earlier trims kept more events than are to be kept now.
fn restart_if_fewer(connection: &Connection, keep: u32) -> Result<(), StoreError> {
    let failed = failed("beginning to trim");
    let before = before(connection)?;
    if keep < before {
        connection
            .execute_prepared(
                // By the counts: to look through the log would hold up all writes for as long as that takes.
                "INSERT INTO untrimmed (emitter_id, class)
                 SELECT emitter_id, 0 FROM emitters WHERE ordinary_events > ?1
                 UNION ALL SELECT emitter_id, 1 FROM emitters WHERE error_events > ?1
                 UNION ALL SELECT emitter_id, 2 FROM emitters WHERE log_events > ?1
                 ON CONFLICT DO UPDATE SET waits_at = -1",
                [keep],
            )
            .map_err(&failed)?;
    }
    if keep != before {
        connection
            .execute_prepared("UPDATE retention SET keep = ?", [keep])
            .map_err(&failed)?;
    }
    Ok(())
}

fn untrimmed(connection: &Connection, passed: i64, limit: u32) -> Result<Vec<Log>, StoreError> {
    let failed = failed("looking for events to trim");
    let mut statement = connection
        .prepare_cached(
            "SELECT emitter_id, class FROM untrimmed
             WHERE waits_at < ? ORDER BY waits_at LIMIT ?",
        )
        .map_err(&failed)?;
    let logs = statement
        .query_map(params![passed, limit], |row| {
            Ok(Log {
                emitter_id: row.get(0)?,
                class: row.get(1)?,
            })
        })
        .map_err(&failed)?;
    logs.collect::<Result<_, _>>().map_err(&failed)
}

/// Deletes the oldest events beyond the newest `keep`; events with a requested deletion do not count.
fn delete_beyond(
    connection: &Connection,
    log: &Log,
    keep: u32,
    passed: i64,
    limit: u32,
) -> Result<u32, StoreError> {
    let beyond = format!(
        "position IN (
             SELECT position FROM events
             WHERE emitter_id = ?1 AND class = ?2
               AND (ms, sequence) <= (
                   SELECT ms, sequence FROM events
                   WHERE emitter_id = ?1 AND class = ?2 AND {NOT_DELETED}
                   ORDER BY ms DESC, sequence DESC LIMIT 1 OFFSET ?3)
               AND position <= ?4
             ORDER BY ms, sequence LIMIT ?5)"
    );
    let bounds = params![log.emitter_id, log.class, keep, passed, limit];
    let deleted = counted_events::delete(connection, &beyond, bounds)?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

/// Whether dispatch or a reader still needs some of a log's events.
fn has_waiting(connection: &Connection, log: &Log, passed: i64) -> Result<bool, StoreError> {
    connection
        .prepare_cached("SELECT 1 FROM events WHERE position > ? AND emitter_id = ? AND class = ?")
        .and_then(|mut statement| statement.exists(params![passed, log.emitter_id, log.class]))
        .map_err(failed("looking for events that are waited for"))
}

/// Keeps a log noted until dispatch and readers have advanced.
fn wait_behind(connection: &Connection, log: &Log, passed: i64) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "UPDATE untrimmed SET waits_at = ? WHERE emitter_id = ? AND class = ?",
            params![passed, log.emitter_id, log.class],
        )
        .map_err(failed("trimming events"))
        .map(drop)
}

fn finish(connection: &Connection, log: &Log) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "DELETE FROM untrimmed WHERE emitter_id = ? AND class = ?",
            params![log.emitter_id, log.class],
        )
        .map_err(failed("trimming events"))
        .map(drop)
}
