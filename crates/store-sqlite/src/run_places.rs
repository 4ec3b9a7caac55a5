//! The rows of runs of workflows: places, large values, answers to waits; and their end with the run's record.

use std::collections::BTreeMap;

use bytes::Bytes;
use headwater_model::{
    id::{InvocationId, RunnableId},
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{
    NewInvocation, OpenRun, PlaceWrite, RunProgress, StoreError, WaitId, WaitResolution,
    WaitResolved, WorkflowState,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::value::RawValue;

use crate::{
    connection::{ExecutePrepared as _, failed},
    event_row, queued_events,
    row::{get, name_of, named, parsed, raw, raw_opt, signed, unsigned},
    send_rows, workflow_state,
};

/// Writes a commit's effects on its run. Runnables that get work are added to `woken`.
pub(crate) fn write(
    connection: &Connection,
    (run_id, runnable): (&InvocationId, &RunnableId),
    emitter: &headwater_store::Owner,
    progress: &RunProgress,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("writing a run's places");
    for place in &progress.places {
        connection
            .execute_prepared(
                "INSERT INTO run_places (run_id, path, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET body = ?3",
                [run_id.as_str(), &place.path, place.body.get()],
            )
            .map_err(&failed)?;
    }
    for blob in &progress.blobs {
        connection
            .execute_prepared(
                "INSERT INTO run_blobs (run_id, hash, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                params![run_id.as_str(), blob.hash, &blob.bytes[..]],
            )
            .map_err(&failed)?;
    }
    for wait in &progress.applied {
        connection
            .execute_prepared(
                "UPDATE run_resolutions SET is_applied = TRUE WHERE run_id = ? AND path = ? AND generation = ?",
                params![run_id.as_str(), wait.path, wait.generation],
            )
            .map_err(&failed)?;
    }
    for send in &progress.sends {
        send_rows::queue(connection, (run_id, runnable), emitter, send, now_ms)?;
    }
    for call in &progress.calls {
        queue_call(connection, call)?;
    }
    for answer in &progress.resolves {
        resolve(connection, answer, now_ms)?;
    }
    match progress.is_forgotten {
        true => forget(connection, run_id.as_str()),
        false => Ok(()),
    }
}

/// Deletes everything of a run that has ended but its record; sends that have not ended go at their end.
fn forget(connection: &Connection, run_id: &str) -> Result<(), StoreError> {
    const OF_RUN: [&str; 5] = [
        "UPDATE sends SET is_forgotten = TRUE WHERE run_id = ? AND state = 'pending'",
        "DELETE FROM sends WHERE run_id = ? AND state <> 'pending'",
        "DELETE FROM run_places WHERE run_id = ?",
        "DELETE FROM run_blobs WHERE run_id = ?",
        "DELETE FROM run_resolutions WHERE run_id = ?",
    ];
    for sql in OF_RUN {
        connection
            .execute_prepared(sql, [run_id])
            .map_err(failed("forgetting a run"))?;
    }
    Ok(())
}

/// Queues a called run; one whose workflow takes none is passed over.
fn queue_call(connection: &Connection, call: &NewInvocation) -> Result<(), StoreError> {
    if workflow_state::state(connection, call.runnable.as_str())?.is_none() {
        return Ok(());
    }
    connection
        .execute_prepared(
            "INSERT INTO invocations (id, runnable_id, trigger, timer_prop, event, hops, queued_at_ms, request_id,
                                      traceparent, due_at_ms, state)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            params![
                call.id.as_str(),
                call.runnable.as_str(),
                name_of(&call.trigger)?,
                call.via,
                call.event.get(),
                call.hops,
                signed(call.now_ms),
                call.origin.request_id(),
                call.origin.trace.as_ref().map(ToString::to_string),
                signed(call.due_at_ms),
                call.state.as_ref().map(|state| state.get()),
            ],
        )
        .map_err(failed("queueing a called run"))
        .map(drop)
}

pub(crate) fn places(connection: &Connection, run_id: &str) -> Result<Vec<PlaceWrite>, StoreError> {
    let failed = failed("reading a run's places");
    let mut statement = connection
        .prepare_cached("SELECT path, body FROM run_places WHERE run_id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([run_id]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(PlaceWrite {
            path: get(row, "path")?,
            body: raw(row, "body")?,
        });
    }
    Ok(found)
}

pub(crate) fn blob(
    connection: &Connection,
    run_id: &str,
    hash: &str,
) -> Result<Option<Bytes>, StoreError> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM run_blobs WHERE run_id = ? AND hash = ?")
        .and_then(|mut statement| {
            let bytes = statement.query_row([run_id, hash], |row| row.get(0));
            bytes.optional()
        })
        .map_err(failed("reading a run's blob"))?;
    Ok(bytes.map(Bytes::from))
}

pub(crate) fn details(
    connection: &Connection,
    run_id: &str,
) -> Result<Option<Box<RawValue>>, StoreError> {
    one_json(
        connection,
        "SELECT details AS json FROM run_details WHERE run_id = ?",
        run_id,
    )
}

pub(crate) fn event(
    connection: &Connection,
    run_id: &str,
) -> Result<Option<Box<RawValue>>, StoreError> {
    one_json(
        connection,
        "SELECT event AS json FROM invocations WHERE id = ?",
        run_id,
    )
}

fn one_json(
    connection: &Connection,
    sql: &str,
    id: &str,
) -> Result<Option<Box<RawValue>>, StoreError> {
    let failed = failed("reading a run");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    match rows.next().map_err(&failed)? {
        Some(row) => raw_opt(row, "json"),
        None => Ok(None),
    }
}

/// Writes the details of a run beside its record.
pub(crate) fn write_details(
    connection: &Connection,
    run_id: &str,
    details: &RawValue,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT OR REPLACE INTO run_details (run_id, details) VALUES (?, ?)",
            [run_id, details.get()],
        )
        .map_err(failed("recording a run"))
        .map(drop)
}

const OPEN: &str = "SELECT id, runnable_id, trigger, timer_prop, queued_at_ms, due_at_ms,
                           lease_epoch IS NOT NULL AS is_leased, state, cause_emitter_id, cause_ms, cause_sequence
                    FROM invocations";

fn open_run_of(row: &Row<'_>) -> Result<OpenRun, StoreError> {
    Ok(OpenRun {
        id: parsed(row, "id")?,
        runnable: parsed(row, "runnable_id")?,
        trigger: named(&get::<String>(row, "trigger")?)?,
        via: get(row, "timer_prop")?,
        caused_by: event_row::cause(row)?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
        due_at_ms: unsigned(row, "due_at_ms")?,
        is_leased: get(row, "is_leased")?,
        state: raw_opt(row, "state")?,
    })
}

pub(crate) fn open_run(
    connection: &Connection,
    run_id: &str,
) -> Result<Option<OpenRun>, StoreError> {
    let failed = failed("reading a run");
    let mut statement = connection
        .prepare_cached(&format!("{OPEN} WHERE id = ?"))
        .map_err(&failed)?;
    let mut rows = statement.query([run_id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(open_run_of).transpose()
}

pub(crate) fn open_runs(
    connection: &Connection,
    runnable: &str,
    page: &PageRequest<InvocationId>,
) -> Result<Page<OpenRun>, StoreError> {
    let failed = failed("reading runs");
    let total: i64 = connection
        .prepare_cached("SELECT count(*) FROM invocations WHERE runnable_id = ?")
        .and_then(|mut statement| statement.query_row([runnable], |row| row.get(0)))
        .map_err(&failed)?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < ?2", "DESC", "~"),
        Position::After(after) => ("id < ?2", "DESC", after.as_str()),
        Position::Before(before) => ("id > ?2", "ASC", before.as_str()),
    };
    let sql = format!("{OPEN} WHERE runnable_id = ?1 AND {bound} ORDER BY id {order} LIMIT ?3");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![runnable, from, page.limit])
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(open_run_of(row)?);
    }
    if order == "ASC" {
        items.reverse();
    }
    Ok(Page {
        total_count: total.unsigned_abs(),
        items,
    })
}

/// Keeps an answer, and makes the run due.
pub(crate) fn resolve(
    connection: &Connection,
    answer: &WaitResolution,
    now_ms: EpochMs,
) -> Result<WaitResolved, StoreError> {
    let failed = failed("answering a wait");
    let run_id = answer.wait.run_id.as_str();
    let Some(run) = open_run(connection, run_id)? else {
        let has_ended = connection
            .prepare_cached("SELECT 1 FROM runs WHERE id = ?")
            .and_then(|mut statement| statement.exists([run_id]))
            .map_err(&failed)?;
        return Ok(match has_ended {
            true => WaitResolved::Ended,
            false => WaitResolved::Unknown,
        });
    };
    if let RunnableId::Workflow(id) = &run.runnable
        && workflow_state::state(connection, id.as_str())? == Some(WorkflowState::Deleting)
    {
        return Ok(WaitResolved::Ended);
    }
    if !is_open(connection, &answer.wait)? {
        return Ok(WaitResolved::Before);
    }
    let kept = connection
        .execute_prepared(
            "INSERT INTO run_resolutions (run_id, path, generation, resolution) VALUES (?, ?, ?, ?)
             ON CONFLICT (run_id, path, generation) DO NOTHING",
            params![
                run_id,
                answer.wait.path,
                answer.wait.generation,
                answer.resolution.get()
            ],
        )
        .map_err(&failed)?;
    if kept == 0 {
        return Ok(WaitResolved::Before);
    }
    connection
        .execute_prepared(
            "UPDATE invocations SET due_at_ms = min(due_at_ms, ?2) WHERE id = ?1",
            params![run_id, signed(now_ms)],
        )
        .map_err(&failed)?;
    Ok(WaitResolved::Now(run.runnable))
}

/// Whether the place may still have that wait. One that is not written yet runs for the first time.
fn is_open(connection: &Connection, wait: &WaitId) -> Result<bool, StoreError> {
    let place = connection
        .prepare_cached(
            "SELECT body ->> '$.status', coalesce(body ->> '$.generation', 0) FROM run_places
             WHERE run_id = ? AND path = ?",
        )
        .and_then(|mut statement| {
            let columns = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let place = statement.query_row([wait.run_id.as_str(), &wait.path], columns);
            place.optional()
        })
        .map_err(failed("answering a wait"))?;
    let Some((status, generation)): Option<(String, u32)> = place else {
        return Ok(wait.generation == 0);
    };
    let is_on = matches!(&*status, "running" | "waiting");
    Ok(is_on && generation == wait.generation)
}

/// Answers to these runs that no commit has applied yet.
pub(crate) fn resolutions(
    connection: &Connection,
    runs: &[InvocationId],
) -> Result<Vec<WaitResolution>, StoreError> {
    let failed = failed("reading answers to waits");
    let mut statement = connection
        .prepare_cached(
            "SELECT position, path, generation, resolution FROM run_resolutions
             WHERE run_id = ? AND NOT is_applied",
        )
        .map_err(&failed)?;
    let mut found = BTreeMap::new();
    for run_id in runs {
        let mut rows = statement.query([run_id.as_str()]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            let resolution = WaitResolution {
                wait: WaitId {
                    run_id: run_id.clone(),
                    path: get(row, "path")?,
                    generation: get(row, "generation")?,
                },
                resolution: raw(row, "resolution")?,
            };
            found.insert(get::<i64>(row, "position")?, resolution);
        }
    }
    Ok(found.into_values().collect())
}

/// Deletes what belongs to runs that match, before their records go: `which` selects their ids.
pub(crate) fn delete_with(
    connection: &Connection,
    which: &str,
    params: impl rusqlite::Params + Clone,
) -> Result<(), StoreError> {
    for table in [
        "run_details",
        "run_places",
        "run_blobs",
        "run_resolutions",
        "sends",
    ] {
        connection
            .execute_prepared(
                &format!("DELETE FROM {table} WHERE run_id IN ({which})"),
                params.clone(),
            )
            .map_err(failed("deleting what belongs to runs"))?;
    }
    Ok(())
}

/// Deletes some of a runnable's runs, whether they have ended or not, with everything of theirs.
pub(crate) fn delete_some_runs(
    connection: &Connection,
    runnable: &str,
    limit: usize,
) -> Result<usize, StoreError> {
    const OPEN: &str =
        "SELECT id FROM invocations WHERE runnable_id = ?1 ORDER BY position LIMIT ?2";
    const ENDED: &str = "SELECT id FROM runs WHERE runnable_id = ?1 ORDER BY failed, id LIMIT ?2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    delete_with(connection, OPEN, params![runnable, limit])?;
    let which = "position IN (SELECT position FROM invocations WHERE runnable_id = ?1 ORDER BY position LIMIT ?2)";
    let open = queued_events::delete_invocations(connection, which, params![runnable, limit])?;
    let left = limit - i64::try_from(open).unwrap_or(limit);
    delete_with(connection, ENDED, params![runnable, left])?;
    let ended = connection
        .execute_prepared(
            &format!("DELETE FROM runs WHERE id IN ({ENDED})"),
            params![runnable, left],
        )
        .map_err(failed("deleting runs"))?;
    Ok(open + ended)
}
