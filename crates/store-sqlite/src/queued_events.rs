//! The number of invocations per owner that events have queued and that have not ended, and the bytes of their events.
//! Every write of an invocation with an owner counts here.

use headwater_store::StoreError;
use rusqlite::{Connection, Params, params};

use crate::connection::{ExecutePrepared as _, failed};

/// Counts one more.
pub(crate) fn add(connection: &Connection, owner: &str, bytes: u64) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO queued_events (owner_id, invocations, bytes) VALUES (?1, 1, ?2)
             ON CONFLICT (owner_id) DO UPDATE SET invocations = invocations + 1, bytes = bytes + ?2",
            params![owner, bytes],
        )
        .map_err(failed("counting a queued event"))
        .map(drop)
}

/// Counts one less.
pub(crate) fn remove(connection: &Connection, owner: &str, bytes: u64) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "UPDATE queued_events SET invocations = invocations - 1, bytes = bytes - ?2 WHERE owner_id = ?1",
            params![owner, bytes],
        )
        .map_err(failed("counting a queued event"))
        .map(drop)
}

/// Deletes the invocations that match the condition, and counts them no more. Returns their number.
pub(crate) fn delete_invocations(
    connection: &Connection,
    which: &str,
    params: impl Params + Clone,
) -> Result<usize, StoreError> {
    let failed = failed("deleting invocations");
    connection
        .execute_prepared(
            &format!(
                "UPDATE queued_events
                 SET invocations = queued_events.invocations - gone.invocations, bytes = queued_events.bytes - gone.bytes
                 FROM (SELECT owner_id, count(*) AS invocations, sum(octet_length(event)) AS bytes
                       FROM invocations WHERE {which} AND owner_id IS NOT NULL GROUP BY owner_id) AS gone
                 WHERE queued_events.owner_id = gone.owner_id"
            ),
            params.clone(),
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(&format!("DELETE FROM invocations WHERE {which}"), params)
        .map_err(&failed)
}
