//! Retention: keeps the newest events of each emitter and channel class, and deletes the others.

use headwater_store::{LogPosition, Progress, StoreError};

use crate::{
    connection::{Connection, Params, failed},
    counted_events,
    dispatch::held,
    event_row::NOT_DELETED,
    row::{get, signed, unsigned},
};

/// One emitter's events of one class.
struct Log {
    emitter_id: String,
    class: i64,
}

/// Whether a step has anything to look at.
pub(crate) async fn has_work(
    connection: &Connection,
    keep: u32,
    read_up_to: Option<LogPosition>,
) -> Result<bool, StoreError> {
    let passed = passed(connection, read_up_to).await?;
    Ok(keep != before(connection).await? || !untrimmed(connection, passed, 1).await?.is_empty())
}

pub(crate) async fn trim(
    connection: &Connection,
    keep: u32,
    limit: u32,
    read_up_to: Option<LogPosition>,
) -> Result<Progress, StoreError> {
    restart_if_fewer(connection, keep).await?;
    let passed = passed(connection, read_up_to).await?;
    let logs = untrimmed(connection, passed, limit).await?;
    let mut left = limit;
    for log in &logs {
        let passed = match held::up_to(connection, &log.emitter_id).await? {
            Some(held) => passed.min(held),
            None => passed,
        };
        let deleted = delete_beyond(connection, log, keep, passed, left).await?;
        left -= deleted;
        if left == 0 {
            break;
        }
        if has_waiting(connection, log, passed).await? {
            wait_behind(connection, log, passed).await?;
        } else {
            finish(connection, log).await?;
        }
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0 || logs.len() == limit as usize,
        ..Progress::default()
    })
}

/// The position up to which neither dispatch nor a reader needs the events.
async fn passed(
    connection: &Connection,
    read_up_to: Option<LogPosition>,
) -> Result<i64, StoreError> {
    let dispatched: i64 = connection
        .value("SELECT position FROM dispatch_cursor", &[])
        .await
        .map_err(failed("beginning to trim"))?;
    Ok(read_up_to.map_or(dispatched, |read| dispatched.min(signed(read.0))))
}

/// The number of events to keep of the trimming before.
async fn before(connection: &Connection) -> Result<u32, StoreError> {
    let failed = failed("beginning to trim");
    let row = connection
        .query_one("SELECT keep FROM retention", &[])
        .await
        .map_err(&failed)?;
    unsigned(&row, "keep")
}

/// Restarts trimming if earlier trims kept more events than are to be kept now.
async fn restart_if_fewer(connection: &Connection, keep: u32) -> Result<(), StoreError> {
    let failed = failed("beginning to trim");
    let before = before(connection).await?;
    if keep < before {
        connection
            .execute(
                // By the counts: to look through the log would hold up all commits for as long as that takes.
                "INSERT INTO untrimmed (emitter_id, class)
                 SELECT emitter_id, class
                 FROM emitters, unnest(ARRAY[0, 1, 2], ARRAY[ordinary_events, error_events, log_events]) AS counts (class, events)
                 WHERE events > $1
                 ON CONFLICT (emitter_id, class) DO UPDATE SET waits_at = -1",
                &[&signed(keep)],
            )
            .await
            .map_err(&failed)?;
    }
    if keep != before {
        connection
            .execute("UPDATE retention SET keep = $1", &[&signed(keep)])
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

async fn untrimmed(
    connection: &Connection,
    passed: i64,
    limit: u32,
) -> Result<Vec<Log>, StoreError> {
    let failed = failed("looking for events to trim");
    let rows = connection
        .query(
            "SELECT emitter_id, class FROM untrimmed
             WHERE waits_at < $1 ORDER BY waits_at LIMIT $2",
            &[&passed, &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let log = |row| {
        Ok(Log {
            emitter_id: get(row, "emitter_id")?,
            class: get(row, "class")?,
        })
    };
    rows.iter().map(log).collect()
}

/// Deletes the oldest events beyond the newest `keep`; events with a requested deletion do not count.
async fn delete_beyond(
    connection: &Connection,
    log: &Log,
    keep: u32,
    passed: i64,
    limit: u32,
) -> Result<u32, StoreError> {
    let beyond = format!(
        "position = ANY (ARRAY(
             SELECT position FROM events
             WHERE emitter_id = $1 AND class = $2
               AND (ms, sequence) <= (
                   SELECT ms, sequence FROM events
                   WHERE emitter_id = $1 AND class = $2 AND {NOT_DELETED}
                   ORDER BY ms DESC, sequence DESC LIMIT 1 OFFSET $3)
               AND position <= $4
             ORDER BY ms, sequence LIMIT $5))"
    );
    let bounds: Params<'_> = &[
        &log.emitter_id,
        &log.class,
        &signed(keep),
        &passed,
        &signed(limit),
    ];
    let deleted = counted_events::delete(connection, &beyond, bounds).await?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

/// Whether dispatch or a reader still needs some of a log's events.
async fn has_waiting(connection: &Connection, log: &Log, passed: i64) -> Result<bool, StoreError> {
    connection
        .exists(
            "SELECT 1 FROM events WHERE position > $1 AND emitter_id = $2 AND class = $3 LIMIT 1",
            &[&passed, &log.emitter_id, &log.class],
        )
        .await
        .map_err(failed("looking for events that are waited for"))
}

/// Keeps a log noted until dispatch and readers have advanced.
async fn wait_behind(connection: &Connection, log: &Log, passed: i64) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE untrimmed SET waits_at = $1 WHERE emitter_id = $2 AND class = $3",
            &[&passed, &log.emitter_id, &log.class],
        )
        .await
        .map_err(failed("trimming events"))
        .map(drop)
}

async fn finish(connection: &Connection, log: &Log) -> Result<(), StoreError> {
    connection
        .execute(
            "DELETE FROM untrimmed WHERE emitter_id = $1 AND class = $2",
            &[&log.emitter_id, &log.class],
        )
        .await
        .map_err(failed("trimming events"))
        .map(drop)
}
