//! Giving deliveries up by hand.

use headwater_model::{id::DeliveryId, time::EpochMs};
use headwater_store::{Conflict, Entity, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::signed,
};

/// Discards a delivery that may be: false if it has been delivered.
pub(super) fn discard(
    connection: &Connection,
    id: &DeliveryId,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    if end(connection, id.as_str(), now_ms)? {
        return Ok(true);
    }
    let state: Option<String> = connection
        .prepare_cached("SELECT state FROM deliveries WHERE id = ?")
        .and_then(|mut statement| {
            let state = statement.query_row([id.as_str()], |row| row.get(0));
            state.optional()
        })
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
pub(super) fn end(connection: &Connection, id: &str, now_ms: EpochMs) -> Result<bool, StoreError> {
    let discarded = connection
        .execute_prepared(
            "UPDATE deliveries SET state = 'discarded', is_again = 0, due_at_ms = 0, ended_at_ms = ?2,
                                   lease_epoch = NULL, lease_expires_at_ms = NULL
             WHERE id = ?1 AND state IN ('pending', 'dead')",
            params![id, signed(now_ms)],
        )
        .map_err(failed("discarding a delivery"))?;
    Ok(discarded > 0)
}
