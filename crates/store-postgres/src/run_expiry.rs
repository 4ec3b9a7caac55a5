//! The end of runs by age: those of workflows that keep theirs for some days only.

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};

use crate::{
    connection::{Connection, Params, failed},
    row::signed,
    run_keys, run_places,
};

/// Ended runs whose days are over, read through the index of their ends.
const EXPIRED: &str = "SELECT runs.id FROM workflows JOIN runs
         ON runs.runnable_id = workflows.id
     WHERE run_days IS NOT NULL AND ended_at_ms <= $1 - run_days * 86400000
       AND runnable_id >= 'p_' AND runnable_id < 'p`'
     ORDER BY runs.runnable_id, ended_at_ms, runs.id LIMIT $2";

/// Whether a step has anything to delete.
pub(crate) async fn has_work(connection: &Connection, now_ms: EpochMs) -> Result<bool, StoreError> {
    let has_runs = connection
        .exists(EXPIRED, &[&signed(now_ms), &1_i64])
        .await
        .map_err(failed("looking for runs that are over"))?;
    Ok(has_runs || run_keys::have_expired(connection, now_ms).await?)
}

pub(crate) async fn step(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let (now, most) = (signed(now_ms), signed(limit));
    let which: Params<'_> = &[&now, &most];
    run_places::delete_with(connection, EXPIRED, which).await?;
    let runs = connection
        .execute(
            &format!("DELETE FROM runs WHERE id = ANY (ARRAY({EXPIRED}))"),
            which,
        )
        .await
        .map_err(failed("deleting runs"))?;
    let runs = u32::try_from(runs).unwrap_or(u32::MAX);
    let keys = run_keys::expire(connection, now_ms, limit).await?;
    Ok(Progress {
        done: u64::from(runs),
        more: runs == limit || keys == limit,
        ..Progress::default()
    })
}
