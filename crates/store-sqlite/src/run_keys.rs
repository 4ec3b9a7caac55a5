//! The values of idempotency keys, and the runs that had them first.

use headwater_model::time::EpochMs;
use headwater_store::{RunKey, StoreError};
use rusqlite::{Connection, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::signed,
};

/// Gives the value to the run, unless another one has it.
pub(crate) fn take(
    connection: &Connection,
    key: &RunKey,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let taken = connection
        .execute_prepared(
            "INSERT INTO run_keys (workflow_id, trigger_id, hash, run_id, expires_at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET run_id = ?4, expires_at_ms = ?5
                 WHERE run_id = ?4 OR expires_at_ms <= ?6",
            params![
                key.workflow.as_str(),
                key.trigger,
                key.hash,
                key.run_id.as_str(),
                signed(key.expires_at_ms),
                signed(now_ms)
            ],
        )
        .map_err(failed("taking an idempotency key"))?;
    Ok(taken > 0)
}

/// Deletes values that have expired.
pub(crate) fn expire(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<u32, StoreError> {
    let deleted = connection
        .execute_prepared(
            "DELETE FROM run_keys WHERE (workflow_id, trigger_id, hash) IN (
                 SELECT workflow_id, trigger_id, hash FROM run_keys WHERE expires_at_ms <= ? LIMIT ?)",
            (signed(now_ms), limit),
        )
        .map_err(failed("forgetting idempotency keys"))?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

/// Whether one has expired.
pub(crate) fn have_expired(connection: &Connection, now_ms: EpochMs) -> Result<bool, StoreError> {
    connection
        .prepare_cached("SELECT 1 FROM run_keys WHERE expires_at_ms <= ? LIMIT 1")
        .and_then(|mut statement| statement.exists([signed(now_ms)]))
        .map_err(failed("looking for idempotency keys"))
}
