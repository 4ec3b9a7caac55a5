//! Runs of workflows that wait to begin: whether there may be one more.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// Whether the workflow has room for one more that waits.
pub(crate) async fn has_room(connection: &Connection, workflow: &str) -> Result<bool, StoreError> {
    let failed = failed("looking for room in a workflow's queue");
    let bound: Option<Option<i64>> = connection
        .value_opt(
            "SELECT waiting_runs FROM workflows WHERE id = $1",
            &[&workflow],
        )
        .await
        .map_err(&failed)?;
    let Some(bound) = bound.flatten() else {
        return Ok(true);
    };
    let waiting: i64 = connection
        .value(
            "SELECT count(*) FROM (SELECT 1 FROM invocations
                                   WHERE runnable_id = $1 AND NOT has_begun AND runnable_id >= 'p_'
                                     AND runnable_id < 'p`' LIMIT $2) AS waiting",
            &[&workflow, &bound],
        )
        .await
        .map_err(&failed)?;
    Ok(waiting < bound)
}
