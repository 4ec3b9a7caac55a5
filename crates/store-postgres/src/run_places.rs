//! The rows of runs of workflows, read and deleted: places, large values, answers to waits, which are kept here, too. Not
//! responsible for what commits write to them.

use bytes::Bytes;
use headwater_model::{
    id::{InvocationId, RunnableId},
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{
    OpenRun, PlaceWrite, StoreError, WaitId, WaitResolution, WaitResolved, WorkflowState,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
    event_row, queued_events,
    row::{get, json, list, named, parsed, raw, raw_opt, signed, unsigned},
    workflow_state,
};

pub(crate) async fn places(
    connection: &Connection,
    run_id: &str,
) -> Result<Vec<PlaceWrite>, StoreError> {
    let failed = failed("reading a run's places");
    let rows = connection
        .query(
            "SELECT path, body FROM run_places WHERE run_id = $1",
            &[&run_id],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(PlaceWrite {
            path: get(row, "path")?,
            body: raw(row, "body")?,
        });
    }
    Ok(found)
}

pub(crate) async fn blob(
    connection: &Connection,
    run_id: &str,
    hash: &str,
) -> Result<Option<Bytes>, StoreError> {
    let bytes: Option<Vec<u8>> = connection
        .value_opt(
            "SELECT bytes FROM run_blobs WHERE run_id = $1 AND hash = $2",
            &[&run_id, &hash],
        )
        .await
        .map_err(failed("reading a run's blob"))?;
    Ok(bytes.map(Bytes::from))
}

pub(crate) async fn details(
    connection: &Connection,
    run_id: &str,
) -> Result<Option<Box<RawValue>>, StoreError> {
    one_json(
        connection,
        "SELECT details AS json FROM run_details WHERE run_id = $1",
        run_id,
    )
    .await
}

pub(crate) async fn event(
    connection: &Connection,
    run_id: &str,
) -> Result<Option<Box<RawValue>>, StoreError> {
    one_json(
        connection,
        "SELECT event AS json FROM invocations WHERE id = $1",
        run_id,
    )
    .await
}

async fn one_json(
    connection: &Connection,
    sql: &str,
    id: &str,
) -> Result<Option<Box<RawValue>>, StoreError> {
    let failed = failed("reading a run");
    let rows = connection.query(sql, &[&id]).await.map_err(&failed)?;
    match rows.first() {
        Some(row) => raw_opt(row, "json"),
        None => Ok(None),
    }
}

const OPEN: &str = "SELECT id, runnable_id, trigger, timer_prop, queued_at_ms, due_at_ms,
                           lease_epoch IS NOT NULL AS is_leased, state, cause_emitter_id, cause_ms, cause_sequence
                    FROM invocations";

fn open_run_of(row: &Row) -> Result<OpenRun, StoreError> {
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

pub(crate) async fn open_run(
    connection: &Connection,
    run_id: &str,
) -> Result<Option<OpenRun>, StoreError> {
    let failed = failed("reading a run");
    let rows = connection
        .query(&format!("{OPEN} WHERE id = $1"), &[&run_id])
        .await
        .map_err(&failed)?;
    rows.first().map(open_run_of).transpose()
}

pub(crate) async fn open_runs(
    connection: &Connection,
    runnable: &str,
    page: &PageRequest<InvocationId>,
) -> Result<Page<OpenRun>, StoreError> {
    let failed = failed("reading runs");
    let total: i64 = connection
        .value(
            "SELECT count(*) FROM invocations WHERE runnable_id = $1",
            &[&runnable],
        )
        .await
        .map_err(&failed)?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < $2", "DESC", "~"),
        Position::After(after) => ("id < $2", "DESC", after.as_str()),
        Position::Before(before) => ("id > $2", "ASC", before.as_str()),
    };
    let sql = format!("{OPEN} WHERE runnable_id = $1 AND {bound} ORDER BY id {order} LIMIT $3");
    let rows = connection
        .query(&sql, &[&runnable, &from, &signed(page.limit)])
        .await
        .map_err(&failed)?;
    let mut items = Vec::new();
    for row in &rows {
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
pub(crate) async fn resolve(
    connection: &Connection,
    answer: &WaitResolution,
    now_ms: EpochMs,
) -> Result<WaitResolved, StoreError> {
    let failed = failed("answering a wait");
    let run_id = answer.wait.run_id.as_str();
    let Some(run) = open_run(connection, run_id).await? else {
        let has_ended = connection
            .exists("SELECT 1 FROM runs WHERE id = $1", &[&run_id])
            .await
            .map_err(&failed)?;
        return Ok(match has_ended {
            true => WaitResolved::Ended,
            false => WaitResolved::Unknown,
        });
    };
    if let RunnableId::Workflow(id) = &run.runnable
        && workflow_state::state(connection, id.as_str()).await? == Some(WorkflowState::Deleting)
    {
        return Ok(WaitResolved::Ended);
    }
    if !is_open(connection, &answer.wait).await? {
        return Ok(WaitResolved::Before);
    }
    let kept = connection
        .execute(
            "INSERT INTO run_resolutions (run_id, path, generation, resolution) VALUES ($1, $2, $3, $4)
             ON CONFLICT (run_id, path, generation) DO NOTHING",
            &[
                &run_id,
                &answer.wait.path,
                &signed(answer.wait.generation),
                &answer.resolution.get(),
            ],
        )
        .await
        .map_err(&failed)?;
    if kept == 0 {
        return Ok(WaitResolved::Before);
    }
    connection
        .execute(
            "UPDATE invocations SET due_at_ms = least(due_at_ms, $2) WHERE id = $1",
            &[&run_id, &signed(now_ms)],
        )
        .await
        .map_err(&failed)?;
    Ok(WaitResolved::Now(run.runnable))
}

/// The part of a place that tells whether it has a wait.
#[derive(Deserialize)]
struct Standing {
    status: String,
    #[serde(default)]
    generation: u32,
}

/// Whether the place may still have that wait. One that is not written yet runs for the first time.
async fn is_open(connection: &Connection, wait: &WaitId) -> Result<bool, StoreError> {
    let sql = "SELECT body FROM run_places WHERE run_id = $1 AND path = $2";
    let row = connection
        .query_opt(sql, &[&wait.run_id.as_str(), &wait.path])
        .await;
    let row = row.map_err(failed("answering a wait"))?;
    let place: Option<Standing> = row.map(|row| json(&row, "body")).transpose()?;
    let Some(Standing { status, generation }) = place else {
        return Ok(wait.generation == 0);
    };
    let is_on = matches!(&*status, "running" | "waiting");
    Ok(is_on && generation == wait.generation)
}

/// Answers to these runs that no commit has applied yet.
pub(crate) async fn resolutions(
    connection: &Connection,
    runs: &[InvocationId],
) -> Result<Vec<WaitResolution>, StoreError> {
    let rows = connection
        .query(
            "SELECT run_id, path, generation, resolution FROM run_resolutions
             WHERE run_id = ANY($1) AND NOT is_applied ORDER BY position",
            &[&list(runs, InvocationId::as_str)],
        )
        .await
        .map_err(failed("reading answers to waits"))?;
    let resolution = |row| {
        Ok(WaitResolution {
            wait: WaitId {
                run_id: parsed(row, "run_id")?,
                path: get(row, "path")?,
                generation: unsigned(row, "generation")?,
            },
            resolution: raw(row, "resolution")?,
        })
    };
    rows.iter().map(resolution).collect()
}

/// Deletes what belongs to runs that match, before their records go: `which` selects their ids.
pub(crate) async fn delete_with(
    connection: &Connection,
    which: &str,
    params: Params<'_>,
) -> Result<(), StoreError> {
    for table in [
        "run_details",
        "run_places",
        "run_blobs",
        "run_resolutions",
        "sends",
    ] {
        connection
            .execute(
                &format!("DELETE FROM {table} WHERE run_id = ANY (ARRAY({which}))"),
                params,
            )
            .await
            .map_err(failed("deleting what belongs to runs"))?;
    }
    Ok(())
}

/// Deletes some of a runnable's runs, whether they have ended or not, with everything of theirs.
pub(crate) async fn delete_some_runs(
    connection: &Connection,
    runnable: &str,
    limit: u64,
) -> Result<u64, StoreError> {
    const OPEN: &str =
        "SELECT id FROM invocations WHERE runnable_id = $1 ORDER BY position LIMIT $2";
    const ENDED: &str = "SELECT id FROM runs WHERE runnable_id = $1 ORDER BY failed, id LIMIT $2";
    let limit = signed(limit);
    delete_with(connection, OPEN, &[&runnable, &limit]).await?;
    let which = queued_events::OF_RUNNABLE;
    let open = queued_events::delete_invocations(connection, which, &[&runnable, &limit]).await?;
    let left = limit - i64::try_from(open).unwrap_or(limit);
    delete_with(connection, ENDED, &[&runnable, &left]).await?;
    let ended = connection
        .execute(
            &format!("DELETE FROM runs WHERE id = ANY (ARRAY({ENDED}))"),
            &[&runnable, &left],
        )
        .await
        .map_err(failed("deleting runs"))?;
    Ok(open + ended)
}
