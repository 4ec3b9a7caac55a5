//! The values of idempotency keys, and the runs that had them first.

use headwater_model::time::EpochMs;
use headwater_store::{RunKey, StoreError};

use crate::{
    connection::{Connection, failed},
    row::signed,
};

/// Gives the value to the run, unless another one has it.
pub(crate) async fn take(
    connection: &Connection,
    key: &RunKey,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let taken = connection
        .execute(
            "INSERT INTO run_keys AS former (workflow_id, trigger_id, hash, run_id, expires_at_ms)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (workflow_id, trigger_id, hash) DO UPDATE SET run_id = $4, expires_at_ms = $5
                 WHERE former.run_id = $4 OR former.expires_at_ms <= $6",
            &[
                &key.workflow.as_str(),
                &key.trigger,
                &key.hash,
                &key.run_id.as_str(),
                &signed(key.expires_at_ms),
                &signed(now_ms),
            ],
        )
        .await
        .map_err(failed("taking an idempotency key"))?;
    Ok(taken > 0)
}

/// Deletes values that have expired.
pub(crate) async fn expire(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<u32, StoreError> {
    let deleted = connection
        .execute(
            "DELETE FROM run_keys WHERE (workflow_id, trigger_id, hash) IN (
                 SELECT workflow_id, trigger_id, hash FROM run_keys WHERE expires_at_ms <= $1 LIMIT $2)",
            &[&signed(now_ms), &signed(limit)],
        )
        .await
        .map_err(failed("forgetting idempotency keys"))?;
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}

/// Whether one has expired.
pub(crate) async fn have_expired(
    connection: &Connection,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    connection
        .exists(
            "SELECT 1 FROM run_keys WHERE expires_at_ms <= $1 LIMIT 1",
            &[&signed(now_ms)],
        )
        .await
        .map_err(failed("looking for idempotency keys"))
}
