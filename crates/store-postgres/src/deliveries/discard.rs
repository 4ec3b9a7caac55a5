//! Giving deliveries up by hand.

use headwater_model::{id::DeliveryId, time::EpochMs};
use headwater_store::{Conflict, Entity, StoreError};

use crate::{
    connection::{Connection, failed},
    row::signed,
};

/// Discards a delivery that may be: false if it has been delivered.
pub(super) async fn discard(
    connection: &Connection,
    id: &DeliveryId,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    if end(connection, id.as_str(), now_ms).await? {
        return Ok(true);
    }
    let state: Option<String> = connection
        .value_opt(
            "SELECT state FROM deliveries WHERE id = $1",
            &[&id.as_str()],
        )
        .await
        .map_err(failed("discarding a delivery"))?;
    match state.as_deref() {
        Some("discarded") => Ok(true),
        Some(_) => Ok(false),
        None => Err(Conflict::Gone(Entity::Delivery(id.clone())).into()),
    }
}

/// Whether a delivery in that state may be discarded.
pub(super) fn is_possible(state: &str) -> bool {
    matches!(state, "pending" | "dead")
}

/// Discards a pending or dead delivery, whose lease is lost then. False: it is neither.
pub(super) async fn end(
    connection: &Connection,
    id: &str,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let discarded = connection
        .execute("UPDATE deliveries SET state = 'discarded', is_again = FALSE, due_at_ms = 0, ended_at_ms = $2,
                                   lease_epoch = NULL, lease_expires_at_ms = NULL
             WHERE id = $1 AND state IN ('pending', 'dead')", &[&id, &signed(now_ms)]).await
        .map_err(failed("discarding a delivery"))?;
    Ok(discarded > 0)
}
