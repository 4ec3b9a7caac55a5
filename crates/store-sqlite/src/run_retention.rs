//! Retention of runs: keeps the newest of each runnable, failures apart from successes, and the first failure since the
//! last success.

use headwater_model::id::WorkflowId;
use headwater_store::{KeptRuns, Progress, StoreError};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    run_places,
};

/// Notes that a runnable has runs that are newer than its last trim.
pub(crate) fn note_untrimmed(connection: &Connection, runnable: &str) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO untrimmed_runs (runnable_id) VALUES (?) ON CONFLICT DO NOTHING",
            [runnable],
        )
        .map_err(failed("noting runs to be trimmed"))
        .map(drop)
}

/// Whether a step has anything to look at.
pub(crate) fn has_work(connection: &Connection, keep: KeptRuns) -> Result<bool, StoreError> {
    Ok(keep != before(connection)? || !untrimmed(connection, 1)?.is_empty())
}

pub(crate) fn trim(
    connection: &Connection,
    keep: KeptRuns,
    limit: u32,
) -> Result<Progress, StoreError> {
    restart_if_fewer(connection, keep)?;
    let untrimmed = untrimmed(connection, limit)?;
    let mut left = limit;
    for runnable in &untrimmed {
        for (has_failed, keep) in [(false, keep.successes), (true, keep.failures)] {
            left -= delete_beyond(connection, runnable, has_failed, keep, left)?;
        }
        if left == 0 {
            break;
        }
        finish(connection, runnable)?;
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0 || untrimmed.len() == limit as usize,
        ..Progress::default()
    })
}

/// The numbers of the trimming before.
fn before(connection: &Connection) -> Result<KeptRuns, StoreError> {
    let kept = |row: &Row<'_>| {
        Ok(KeptRuns {
            successes: row.get(0)?,
            failures: row.get(1)?,
        })
    };
    connection
        .prepare_cached("SELECT keep_runs, keep_failed_runs FROM retention")
        .and_then(|mut statement| statement.query_row((), kept))
        .map_err(failed("beginning to trim runs"))
}

/// Restarts trimming if earlier trims kept more runs than are to be kept now.
fn restart_if_fewer(connection: &Connection, keep: KeptRuns) -> Result<(), StoreError> {
    let failed = failed("beginning to trim runs");
    let before = before(connection)?;
    if keep.successes < before.successes || keep.failures < before.failures {
        let all = "INSERT INTO untrimmed_runs (runnable_id) SELECT DISTINCT runnable_id FROM runs WHERE TRUE
                   ON CONFLICT DO NOTHING";
        connection.execute_prepared(all, ()).map_err(&failed)?;
    }
    if keep != before {
        connection
            .execute_prepared(
                "UPDATE retention SET keep_runs = ?, keep_failed_runs = ?",
                (keep.successes, keep.failures),
            )
            .map_err(&failed)?;
    }
    Ok(())
}

fn untrimmed(connection: &Connection, limit: u32) -> Result<Vec<String>, StoreError> {
    let failed = failed("looking for runs to trim");
    let mut statement = connection
        .prepare_cached("SELECT runnable_id FROM untrimmed_runs LIMIT ?")
        .map_err(&failed)?;
    let ids = statement
        .query_map([limit], |row| row.get(0))
        .map_err(&failed)?;
    ids.collect::<Result<_, _>>().map_err(&failed)
}

/// The first failure of runnable `?1` since its last success: since then it fails.
pub(crate) const FIRST_FAILURE: &str = "SELECT id FROM runs
     WHERE runnable_id = ?1 AND failed = 1
       AND id > coalesce((SELECT id FROM runs WHERE runnable_id = ?1 AND failed = 0 ORDER BY id DESC LIMIT 1), '')
     ORDER BY id LIMIT 1";

/// Deletes the oldest runs beyond the newest `keep`, but for the failure that a row of failures began with.
fn delete_beyond(
    connection: &Connection,
    runnable: &str,
    has_failed: bool,
    keep: u32,
    limit: u32,
) -> Result<u32, StoreError> {
    // The subqueries are worked out once each.
    let beyond = format!(
        "SELECT id FROM runs
         WHERE runnable_id = ?1 AND failed = ?2
           AND id <= (SELECT id FROM runs WHERE runnable_id = ?1 AND failed = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)
           AND (?3 = 0 OR id IS NOT ({FIRST_FAILURE}))
         ORDER BY id LIMIT ?4"
    );
    let params = params![runnable, has_failed, keep, limit];
    if runnable.starts_with(WorkflowId::PREFIX) {
        run_places::delete_with(connection, &beyond, params)?;
    }
    let deleted = connection
        .execute_prepared(
            &format!(
                "DELETE FROM runs WHERE runnable_id = ?1 AND failed = ?2 AND id IN ({beyond})"
            ),
            params,
        )
        .map_err(failed("trimming runs"))?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

fn finish(connection: &Connection, runnable: &str) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "DELETE FROM untrimmed_runs WHERE runnable_id = ?",
            [runnable],
        )
        .map_err(failed("trimming runs"))
        .map(drop)
}
