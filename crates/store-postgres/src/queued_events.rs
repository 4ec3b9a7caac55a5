//! The number of invocations per owner that events have queued and that have not ended, and the bytes of their events.
//! Every write of an invocation with an owner counts here.

use headwater_store::StoreError;

use crate::{
    connection::{Connection, Params, failed},
    row::list,
};

/// Counts more invocations of owners, each with its bytes.
pub(crate) async fn add(
    connection: &Connection,
    invocations: &[(&str, i64)],
) -> Result<(), StoreError> {
    if invocations.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO queued_events AS queued (owner_id, invocations, bytes)
             SELECT owner_id, count(*), sum(bytes)::bigint
             FROM unnest($1::text[], $2::bigint[]) AS one (owner_id, bytes) GROUP BY owner_id ORDER BY owner_id
             ON CONFLICT (owner_id) DO UPDATE
             SET invocations = queued.invocations + excluded.invocations, bytes = queued.bytes + excluded.bytes",
            &[
                &list(invocations, |(owner, _)| *owner),
                &list(invocations, |(_, bytes)| *bytes),
            ],
        )
        .await
        .map_err(failed("counting queued events"))
        .map(drop)
}

/// Counts invocations of owners no more, each with its bytes.
pub(crate) async fn remove(
    connection: &Connection,
    invocations: &[(&str, i64)],
) -> Result<(), StoreError> {
    if invocations.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "UPDATE queued_events
             SET invocations = queued_events.invocations - ended.invocations, bytes = queued_events.bytes - ended.bytes
             FROM (SELECT owner_id, count(*) AS invocations, sum(bytes)::bigint AS bytes
                   FROM unnest($1::text[], $2::bigint[]) AS one (owner_id, bytes) GROUP BY owner_id) AS ended
             WHERE queued_events.owner_id = ended.owner_id",
            &[
                &list(invocations, |(owner, _)| *owner),
                &list(invocations, |(_, bytes)| *bytes),
            ],
        )
        .await
        .map_err(failed("counting queued events"))
        .map(drop)
}

/// The condition on the first (`$2`) of a runnable's invocations (`$1`).
pub(crate) const OF_RUNNABLE: &str = "position = ANY (ARRAY(SELECT position FROM invocations WHERE runnable_id = $1 ORDER BY position LIMIT $2))";

/// Deletes the invocations that match the condition, and counts them no more. Returns their number.
pub(crate) async fn delete_invocations(
    connection: &Connection,
    which: &str,
    params: Params<'_>,
) -> Result<u64, StoreError> {
    let failed = failed("deleting invocations");
    connection
        .execute(&format!(
                "UPDATE queued_events
                 SET invocations = queued_events.invocations - gone.invocations, bytes = queued_events.bytes - gone.bytes
                 FROM (SELECT owner_id, count(*) AS invocations, sum(octet_length(event))::bigint AS bytes
                       FROM invocations WHERE {which} AND owner_id IS NOT NULL GROUP BY owner_id) AS gone
                 WHERE queued_events.owner_id = gone.owner_id"
            ), params).await
        .map_err(&failed)?;
    connection
        .execute(&format!("DELETE FROM invocations WHERE {which}"), params)
        .await
        .map_err(&failed)
}
