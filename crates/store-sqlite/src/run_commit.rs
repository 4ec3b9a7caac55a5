//! The commit of a run: everything it leaves behind, or nothing.

use headwater_model::{
    event::NewEvent,
    id::{EventId, RunnableId},
};
use headwater_store::{Conflict, Entity, KvWrite, Lease, Owner, RunCommit, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    components,
    connection::failed,
    row::{signed, to_json},
    usage,
    writer::savepoint,
};

/// Commits each of them, or refuses it, on its own; nothing after one that could not be tried.
pub(crate) fn commit_all(
    connection: &Connection,
    commits: &[RunCommit],
) -> Vec<Result<(), StoreError>> {
    let mut results = Vec::with_capacity(commits.len());
    // Later dedupe states of these sources count events that were not appended.
    let mut ahead: Vec<&RunnableId> = Vec::new();
    for part in commits {
        let result = match results.last() {
            Some(Err(StoreError::Unavailable { .. })) => Err(StoreError::unavailable(
                "committing runs",
                "an earlier commit could not be tried",
            )),
            _ if part.dedupe.is_some() && ahead.contains(&&part.runnable) => {
                Err(Conflict::Behind.into())
            }
            _ => savepoint(connection, || commit(connection, part)),
        };
        if part.dedupe.is_some() && matches!(result, Err(StoreError::Conflict(_))) {
            ahead.push(&part.runnable);
        }
        results.push(result);
    }
    results
}

pub(crate) fn commit(connection: &Connection, commit: &RunCommit) -> Result<(), StoreError> {
    let id = commit.runnable.as_str();
    let owner = owner(connection, id)?
        .ok_or_else(|| Conflict::Gone(Entity::Runnable(commit.runnable.clone())))?;
    if let Some(lease) = &commit.lease {
        end_invocation(connection, id, lease)?;
    }
    append(connection, id, &commit.events, commit.now_ms)?;
    if let Some(state) = &commit.dedupe {
        connection
            .prepare_cached("UPDATE emitters SET dedupe_state = ? WHERE emitter_id = ?")
            .and_then(|mut statement| statement.execute([&to_json(state).map_err(into_sql)?, id]))
            .map_err(failed("writing the dedupe state"))?;
    }
    write_key_values(connection, id, &commit.kv_writes)?;
    usage::add(connection, &owner, commit.usage, commit.now_ms)
}

fn owner(connection: &Connection, source_id: &str) -> Result<Option<Owner>, StoreError> {
    let failed = failed("looking a source up");
    let mut statement = connection
        .prepare_cached("SELECT user_id, workspace_id FROM sources WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([source_id]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(components::owner).transpose()
}

/// The conflict of an emitter without a log.
fn gone(emitter: &str) -> StoreError {
    match emitter.parse() {
        Ok(id) => Conflict::Gone(Entity::Runnable(id)).into(),
        Err(error) => StoreError::Corrupt(format!("an emitter: {error}")),
    }
}

fn into_sql(error: StoreError) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

fn end_invocation(
    connection: &Connection,
    source_id: &str,
    lease: &Lease,
) -> Result<(), StoreError> {
    let ended = connection
        .prepare_cached(
            "DELETE FROM invocations WHERE id = ? AND lease_epoch = ? AND attempt = ? AND runnable_id = ?",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                source_id
            ])
        })
        .map_err(failed("ending an invocation"))?;
    match ended {
        0 => Err(Conflict::LeaseLost.into()),
        _ => Ok(()),
    }
}

/// Appends events to an emitter's log with the next ids.
pub(crate) fn append(
    connection: &Connection,
    emitter: &str,
    events: &[NewEvent],
    now_ms: u64,
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let failed = failed("appending events");
    let mut last = last_id(connection, emitter)?;
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO events (emitter_id, ms, sequence, class, channel, event, key, summary, ts, hops,
                                 indexed_at_ms, deliver_at_ms, deliver_channel, traceparent)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .map_err(&failed)?;
    let mut classes = Vec::new();
    for event in events {
        let id = EventId::next(last, now_ms);
        last = Some(id);
        let class = event.channel.class().code();
        let scheduled = event.scheduled.as_ref();
        insert
            .execute(params![
                emitter,
                signed(id.ms),
                id.sequence,
                class,
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
            ])
            .map_err(&failed)?;
        if scheduled.is_none() && !classes.contains(&class) {
            classes.push(class);
        }
    }
    let last = last.unwrap_or_default();
    connection
        .prepare_cached("UPDATE emitters SET last_ms = ?, last_sequence = ? WHERE emitter_id = ?")
        .and_then(|mut statement| {
            statement.execute(params![signed(last.ms), last.sequence, emitter])
        })
        .map_err(&failed)?;
    for class in classes {
        connection
            .prepare_cached(
                "INSERT INTO untrimmed (emitter_id, class) VALUES (?, ?) ON CONFLICT DO UPDATE SET waits_at = -1",
            )
            .and_then(|mut statement| statement.execute(params![emitter, class]))
            .map_err(&failed)?;
    }
    Ok(())
}

fn last_id(connection: &Connection, emitter: &str) -> Result<Option<EventId>, StoreError> {
    let last: Option<(Option<i64>, Option<u32>)> = connection
        .prepare_cached("SELECT last_ms, last_sequence FROM emitters WHERE emitter_id = ?")
        .and_then(|mut statement| {
            statement
                .query_row([emitter], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
        .map_err(failed("reading the last event id"))?;
    match last {
        None => Err(gone(emitter)),
        Some((Some(ms), Some(sequence))) => Ok(Some(EventId {
            ms: ms.unsigned_abs(),
            sequence,
        })),
        Some(_) => Ok(None),
    }
}

fn write_key_values(
    connection: &Connection,
    id: &str,
    writes: &[KvWrite],
) -> Result<(), StoreError> {
    for write in writes {
        let done = match &write.value {
            Some(value) => connection
                .prepare_cached(
                    "INSERT INTO key_values (runnable_id, key, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET value = ?3",
                )
                .and_then(|mut statement| statement.execute([id, &write.key, value.get()])),
            None => connection
                .prepare_cached("DELETE FROM key_values WHERE runnable_id = ? AND key = ?")
                .and_then(|mut statement| statement.execute([id, &write.key])),
        };
        done.map_err(failed("writing a key"))?;
    }
    Ok(())
}
