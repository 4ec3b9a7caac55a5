//! Runs of workflows that wait to begin: how many there may be, and which are too many. Not responsible for what they wait
//! for.

use headwater_model::id::InvocationId;
use headwater_store::StoreError;

use crate::{
    connection::{Connection, failed},
    row::{parsed, signed, unsigned_opt},
};

/// The condition of the index over them, word for word, or it is not used.
const TO_BEGIN: &str = "NOT has_begun AND runnable_id >= 'p_' AND runnable_id < 'p`'";

/// The number of runs that a workflow lets wait; `None`: any.
pub(crate) async fn bound(
    connection: &Connection,
    workflow: &str,
) -> Result<Option<u32>, StoreError> {
    let sql = "SELECT waiting_runs FROM workflows WHERE id = $1";
    let row = connection.query_opt(sql, &[&workflow]).await;
    let row = row.map_err(failed("looking for room in a workflow's queue"))?;
    let bound = row.map(|row| unsigned_opt(&row, "waiting_runs"));
    Ok(bound.transpose()?.flatten())
}

/// The number of runs that wait, counted up to `most`.
pub(crate) async fn count(
    connection: &Connection,
    workflow: &str,
    most: u32,
) -> Result<u32, StoreError> {
    let count: i64 = connection
        .value(
            &format!(
                "SELECT count(*) FROM (SELECT 1 FROM invocations
                                   WHERE runnable_id = $1 AND {TO_BEGIN} LIMIT $2) AS waiting"
            ),
            &[&workflow, &signed(most)],
        )
        .await
        .map_err(failed("counting runs that wait"))?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Whether the workflow has room for one more that waits.
pub(crate) async fn has_room(connection: &Connection, workflow: &str) -> Result<bool, StoreError> {
    match bound(connection, workflow).await? {
        None => Ok(true),
        Some(bound) => Ok(count(connection, workflow, bound).await? < bound),
    }
}

/// The oldest of them, without the newest `size`.
pub(crate) async fn beyond(
    connection: &Connection,
    workflow: &str,
    size: u32,
    limit: u32,
) -> Result<Vec<InvocationId>, StoreError> {
    let failed = failed("looking for runs that are too many");
    let rows = connection
        .query(
            &format!(
                "SELECT id FROM invocations
             WHERE runnable_id = $1 AND {TO_BEGIN}
               AND position <= (SELECT position FROM invocations
                                WHERE runnable_id = $1 AND {TO_BEGIN}
                                ORDER BY position DESC LIMIT 1 OFFSET $2)
             ORDER BY position LIMIT $3"
            ),
            &[&workflow, &signed(size), &signed(limit)],
        )
        .await
        .map_err(failed)?;
    rows.iter().map(|row| parsed(row, "id")).collect()
}
