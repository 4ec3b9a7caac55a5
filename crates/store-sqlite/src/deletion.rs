//! Deleting events: what was asked for, and what is beyond retention.

use headwater_model::{channel::ChannelClass, id::EventId};
use headwater_store::{ChannelFilter, EventDeletion, Progress, StoreError};
use rusqlite::{Connection, params};

use crate::{connection::failed, row::signed};

/// Dispatch never passes these on from `$in`: nobody misses one that is deleted.
const SCHEDULED: u8 = ChannelClass::Scheduled.code();

pub(crate) fn request(connection: &Connection, deletion: &EventDeletion) -> Result<(), StoreError> {
    let (class, channel) = match &deletion.channels {
        ChannelFilter::Class(class) => (*class, None),
        ChannelFilter::Named(channel) => (channel.class(), Some(channel.name())),
    };
    let start = deletion.range.start.unwrap_or_default();
    let end = deletion.range.end.unwrap_or(EventId {
        ms: i64::MAX as u64,
        sequence: u32::MAX,
    });
    connection
        .execute(
            "INSERT INTO deletions (emitter_id, class, channel, start_ms, start_sequence, end_ms, end_sequence,
                                    up_to_position)
             VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(position), 0) FROM events))",
            params![
                deletion.emitter.as_str(),
                class.code(),
                channel,
                signed(start.ms),
                start.sequence,
                signed(end.ms),
                end.sequence
            ],
        )
        .map_err(failed("requesting a deletion"))?;
    if class == ChannelClass::Scheduled {
        // A scheduled event that was cancelled must not be released meanwhile.
        let id = connection.last_insert_rowid();
        while delete_covered(connection, id, u32::MAX)? > 0 {}
        finish(connection, id)?;
    }
    Ok(())
}

pub(crate) fn run(connection: &Connection, limit: u32) -> Result<Progress, StoreError> {
    let mut left = limit;
    for id in requested(connection, limit)? {
        let deleted = delete_covered(connection, id, left)?;
        if deleted < left {
            finish(connection, id)?;
        }
        left -= deleted;
        if left == 0 {
            break;
        }
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0,
        ..Progress::default()
    })
}

fn requested(connection: &Connection, limit: u32) -> Result<Vec<i64>, StoreError> {
    let failed = failed("looking for deletions");
    let mut statement = connection
        .prepare_cached("SELECT id FROM deletions ORDER BY id LIMIT ?")
        .map_err(&failed)?;
    let ids = statement
        .query_map([limit], |row| row.get(0))
        .map_err(&failed)?;
    ids.collect::<Result<_, _>>().map_err(&failed)
}

/// Ends a deletion whose events are gone. Until dispatch has passed them all, it stays and hides them.
fn finish(connection: &Connection, id: i64) -> Result<(), StoreError> {
    connection
        .execute(
            &format!(
                "DELETE FROM deletions
                 WHERE id = ? AND (class = {SCHEDULED} OR up_to_position <= (SELECT position FROM dispatch_cursor))"
            ),
            [id],
        )
        .map_err(failed("finishing a deletion"))
        .map(drop)
}

/// Deletes events that the deletion covers; fewer than `limit` means that none is left.
fn delete_covered(connection: &Connection, id: i64, limit: u32) -> Result<u32, StoreError> {
    let deleted = connection
        .prepare_cached(&format!(
            "DELETE FROM events WHERE position IN (
                 SELECT events.position
                 FROM deletions JOIN events ON events.emitter_id = deletions.emitter_id
                      AND events.class = deletions.class
                      AND (events.ms, events.sequence) >= (start_ms, start_sequence)
                      AND (events.ms, events.sequence) <= (end_ms, end_sequence)
                 WHERE deletions.id = ?1
                   AND (deletions.channel IS NULL OR events.channel = deletions.channel)
                   AND events.position <= up_to_position
                   AND (events.class = {SCHEDULED} OR events.position <= (SELECT position FROM dispatch_cursor))
                 LIMIT ?2)",
        ))
        .and_then(|mut statement| statement.execute(params![id, limit]))
        .map_err(failed("deleting events"))?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

pub(crate) fn trim(connection: &Connection, keep: u32, limit: u32) -> Result<Progress, StoreError> {
    let failed = failed("trimming events");
    let candidates: Vec<(String, u8)> = {
        let mut statement = connection
            .prepare_cached("SELECT emitter_id, class FROM untrimmed LIMIT ?")
            .map_err(&failed)?;
        let rows = statement
            .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)?
    };
    let mut progress = Progress {
        more: candidates.len() == limit as usize,
        ..Progress::default()
    };
    for (emitter, class) in candidates {
        let left = limit.saturating_sub(u32::try_from(progress.done).unwrap_or(u32::MAX));
        if left == 0 {
            progress.more = true;
            break;
        }
        let deleted = match class == ChannelClass::Scheduled.code() {
            true => 0,
            false => delete_beyond(connection, (&emitter, class), keep, left)?,
        };
        progress.done += u64::from(deleted);
        if deleted < left && !has_undispatched(connection, &emitter, class)? {
            connection
                .execute(
                    "DELETE FROM untrimmed WHERE emitter_id = ? AND class = ?",
                    params![emitter, class],
                )
                .map_err(&failed)?;
        }
    }
    Ok(progress)
}

fn delete_beyond(
    connection: &Connection,
    of: (&str, u8),
    keep: u32,
    limit: u32,
) -> Result<u32, StoreError> {
    let deleted = connection
        .prepare_cached(
            "DELETE FROM events WHERE position IN (
                 SELECT position FROM events
                 WHERE emitter_id = ?1 AND class = ?2
                   AND (ms, sequence) < (
                       SELECT ms, sequence FROM events WHERE emitter_id = ?1 AND class = ?2
                       ORDER BY ms DESC, sequence DESC LIMIT 1 OFFSET ?3)
                   AND position <= (SELECT position FROM dispatch_cursor)
                 ORDER BY ms, sequence LIMIT ?4)",
        )
        .and_then(|mut statement| {
            statement.execute(params![of.0, of.1, keep.saturating_sub(1), limit])
        })
        .map_err(failed("trimming events"))?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

/// Whether some events could not be trimmed yet because dispatch has not passed them.
fn has_undispatched(connection: &Connection, emitter: &str, class: u8) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM events WHERE position > (SELECT position FROM dispatch_cursor)
                                    AND emitter_id = ? AND class = ?",
        )
        .and_then(|mut statement| statement.exists(params![emitter, class]))
        .map_err(failed("looking for events to dispatch"))
}
