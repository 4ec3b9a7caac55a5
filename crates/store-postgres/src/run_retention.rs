//! Retention of runs: keeps the newest of each runnable, failures apart from successes, and the first failure since the
//! last success.

use headwater_model::id::WorkflowId;
use headwater_store::{KeptRuns, Progress, StoreError};

use crate::{
    connection::{Connection, Params, failed},
    row::{get, signed, unsigned},
    run_places,
};

/// Notes that runnables have runs that are newer than their last trim. Rows are written even if they are there: a trim that
/// deletes one meanwhile is overtaken then.
pub(crate) async fn note_untrimmed(
    connection: &Connection,
    runnables: &[&str],
) -> Result<(), StoreError> {
    if runnables.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO untrimmed_runs (runnable_id) SELECT unnest($1::text[])
             ON CONFLICT (runnable_id) DO UPDATE SET runnable_id = excluded.runnable_id",
            &[&runnables],
        )
        .await
        .map_err(failed("noting runs to be trimmed"))
        .map(drop)
}

/// Whether a step has anything to look at.
pub(crate) async fn has_work(connection: &Connection, keep: KeptRuns) -> Result<bool, StoreError> {
    Ok(keep != before(connection).await? || !untrimmed(connection, 1).await?.is_empty())
}

pub(crate) async fn trim(
    connection: &Connection,
    keep: KeptRuns,
    limit: u32,
) -> Result<Progress, StoreError> {
    restart_if_fewer(connection, keep).await?;
    let untrimmed = untrimmed(connection, limit).await?;
    let mut left = limit;
    for runnable in &untrimmed {
        for (has_failed, keep) in [(false, keep.successes), (true, keep.failures)] {
            left -= delete_beyond(connection, runnable, has_failed, keep, left).await?;
        }
        if left == 0 {
            break;
        }
        finish(connection, runnable).await?;
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0 || untrimmed.len() == limit as usize,
        ..Progress::default()
    })
}

/// The numbers of the trimming before.
async fn before(connection: &Connection) -> Result<KeptRuns, StoreError> {
    let sql = "SELECT keep_runs, keep_failed_runs FROM retention";
    let row = connection.query_one(sql, &[]).await;
    let row = row.map_err(failed("beginning to trim runs"))?;
    Ok(KeptRuns {
        successes: unsigned(&row, "keep_runs")?,
        failures: unsigned(&row, "keep_failed_runs")?,
    })
}

/// Restarts trimming if earlier trims kept more runs than are to be kept now.
async fn restart_if_fewer(connection: &Connection, keep: KeptRuns) -> Result<(), StoreError> {
    let failed = failed("beginning to trim runs");
    let before = before(connection).await?;
    if keep.successes < before.successes || keep.failures < before.failures {
        let all = "INSERT INTO untrimmed_runs (runnable_id) SELECT DISTINCT runnable_id FROM runs
                   ON CONFLICT (runnable_id) DO UPDATE SET runnable_id = excluded.runnable_id";
        connection.execute(all, &[]).await.map_err(&failed)?;
    }
    if keep != before {
        connection
            .execute(
                "UPDATE retention SET keep_runs = $1, keep_failed_runs = $2",
                &[&signed(keep.successes), &signed(keep.failures)],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

async fn untrimmed(connection: &Connection, limit: u32) -> Result<Vec<String>, StoreError> {
    let failed = failed("looking for runs to trim");
    let sql = "SELECT runnable_id FROM untrimmed_runs LIMIT $1";
    let rows = connection
        .query(sql, &[&signed(limit)])
        .await
        .map_err(failed)?;
    rows.iter().map(|row| get(row, "runnable_id")).collect()
}

/// The first failure of runnable `$1` since its last success: since then it fails.
pub(crate) const FIRST_FAILURE: &str =
    "SELECT id FROM runs
     WHERE runnable_id = $1 AND failed
       AND id > coalesce((SELECT id FROM runs WHERE runnable_id = $1 AND NOT failed ORDER BY id DESC LIMIT 1), '')
     ORDER BY id LIMIT 1";

/// Deletes the oldest runs beyond the newest `keep`, but for the failure that a row of failures began with.
async fn delete_beyond(
    connection: &Connection,
    runnable: &str,
    has_failed: bool,
    keep: u32,
    limit: u32,
) -> Result<u32, StoreError> {
    // The subqueries are worked out once each.
    let beyond = format!(
        "SELECT id FROM runs
         WHERE runnable_id = $1 AND failed = $2
           AND id <= (SELECT id FROM runs WHERE runnable_id = $1 AND failed = $2 ORDER BY id DESC LIMIT 1 OFFSET $3)
           AND ($3::bigint = 0 OR id IS DISTINCT FROM ({FIRST_FAILURE}))
         ORDER BY id LIMIT $4"
    );
    let (keep, limit) = (signed(keep), signed(limit));
    let params: Params<'_> = &[&runnable, &has_failed, &keep, &limit];
    if runnable.starts_with(WorkflowId::PREFIX) {
        run_places::delete_with(connection, &beyond, params).await?;
    }
    let deleted = connection
        .execute(
            &format!(
                "DELETE FROM runs WHERE runnable_id = $1 AND failed = $2 AND id = ANY (ARRAY({beyond}))"
            ),
            params,
        )
        .await
        .map_err(failed("trimming runs"))?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

async fn finish(connection: &Connection, runnable: &str) -> Result<(), StoreError> {
    connection
        .execute(
            "DELETE FROM untrimmed_runs WHERE runnable_id = $1",
            &[&runnable],
        )
        .await
        .map_err(failed("trimming runs"))
        .map(drop)
}
