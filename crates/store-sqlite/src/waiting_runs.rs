//! Runs of workflows that wait to begin: how many there may be, and which are too many. Not responsible for what they wait
//! for.

use headwater_model::id::InvocationId;
use headwater_store::StoreError;
use rusqlite::{Connection, OptionalExtension as _};

use crate::connection::failed;

/// The condition of the index over them, word for word, or it is not used.
const TO_BEGIN: &str = "NOT has_begun AND runnable_id >= 'p_' AND runnable_id < 'p`'";

/// The number of runs that a workflow lets wait; `None`: any.
pub(crate) fn bound(connection: &Connection, workflow: &str) -> Result<Option<u32>, StoreError> {
    let bound: Option<Option<u32>> = connection
        .prepare_cached("SELECT waiting_runs FROM workflows WHERE id = ?")
        .and_then(|mut statement| {
            let bound = statement.query_row([workflow], |row| row.get(0));
            bound.optional()
        })
        .map_err(failed("looking for room in a workflow's queue"))?;
    Ok(bound.flatten())
}

/// The number of runs that wait, counted up to `most`.
pub(crate) fn count(connection: &Connection, workflow: &str, most: u32) -> Result<u32, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM invocations INDEXED BY invocations_to_begin
                                   WHERE runnable_id = ?1 AND {TO_BEGIN} LIMIT ?2)"
        ))
        .and_then(|mut statement| statement.query_row((workflow, most), |row| row.get(0)))
        .map_err(failed("counting runs that wait"))
}

/// Whether the workflow has room for one more that waits.
pub(crate) fn has_room(connection: &Connection, workflow: &str) -> Result<bool, StoreError> {
    match bound(connection, workflow)? {
        None => Ok(true),
        Some(bound) => Ok(count(connection, workflow, bound)? < bound),
    }
}

/// The oldest of them, without the newest `size`.
pub(crate) fn beyond(
    connection: &Connection,
    workflow: &str,
    size: u32,
    limit: u32,
) -> Result<Vec<InvocationId>, StoreError> {
    let failed = failed("looking for runs that are too many");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT id FROM invocations INDEXED BY invocations_to_begin
             WHERE runnable_id = ?1 AND {TO_BEGIN}
               AND position <= (SELECT position FROM invocations INDEXED BY invocations_to_begin
                                WHERE runnable_id = ?1 AND {TO_BEGIN}
                                ORDER BY position DESC LIMIT 1 OFFSET ?2)
             ORDER BY position LIMIT ?3"
        ))
        .map_err(&failed)?;
    let ids = statement
        .query_map((workflow, size, limit), |row| row.get::<_, String>(0))
        .map_err(&failed)?;
    let mut found = Vec::new();
    for id in ids {
        let id = id.map_err(&failed)?;
        found.push(
            id.parse()
                .map_err(|error| StoreError::Corrupt(format!("a run that waits: {error}")))?,
        );
    }
    Ok(found)
}
