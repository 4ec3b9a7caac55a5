//! Giving deliveries up: visibly at once, written in bounded steps.

use headwater_store::StoreError;

use super::untrimmed;
use crate::{
    connection::{Connection, failed},
    row::signed,
};

/// Deliveries given up together with the webhook; more are given up in steps of their own.
const GIVEN_UP_AT_ONCE: u32 = 1_000;

/// Turns a webhook's pending deliveries into dead letters: a bounded number at once, the others in steps of trimming.
/// Until then their former generation marks them as dead.
pub(crate) async fn begin(
    connection: &Connection,
    webhook_id: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    let failed = failed("giving deliveries up");
    connection
        .execute(
            "UPDATE webhooks SET generation = generation + 1, given_up_at_ms = $2 WHERE id = $1",
            &[&webhook_id, &at_ms],
        )
        .await
        .map_err(&failed)?;
    if step(connection, webhook_id, GIVEN_UP_AT_ONCE).await? < GIVEN_UP_AT_ONCE {
        return Ok(());
    }
    untrimmed::note(connection, webhook_id).await
}

/// Marks up to `limit` deliveries of a webhook's former generations as dead; fewer than `limit`: none is left.
pub(crate) async fn step(
    connection: &Connection,
    webhook_id: &str,
    limit: u32,
) -> Result<u32, StoreError> {
    let failed = failed("giving deliveries up");
    let given_up = connection
        .execute(
            "UPDATE deliveries SET state = 'dead', lease_epoch = NULL, lease_expires_at_ms = NULL, is_again = FALSE,
                                   ended_at_ms = (SELECT given_up_at_ms FROM webhooks WHERE id = $1)
             WHERE position = ANY (ARRAY(
                 SELECT position FROM deliveries
                 WHERE webhook_id = $1 AND state = 'pending'
                   AND generation < (SELECT generation FROM webhooks WHERE id = $1) LIMIT $2))",
            &[&webhook_id, &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    if given_up < u64::from(limit) {
        connection
            .execute(
                "UPDATE webhooks SET given_up_at_ms = NULL WHERE id = $1",
                &[&webhook_id],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(u32::try_from(given_up).unwrap_or(u32::MAX))
}
