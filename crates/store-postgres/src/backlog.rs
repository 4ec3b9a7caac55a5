//! The size of the backlog, for monitoring: a few index lookups, none of which reads the rows themselves.

use headwater_model::time::EpochMs;
use headwater_store::{Backlog, StoreError};

use crate::{
    connection::{Connection, failed},
    row::{signed, unsigned, unsigned_opt},
};

pub(crate) async fn read(connection: &Connection, now_ms: EpochMs) -> Result<Backlog, StoreError> {
    let counted_max = Backlog::COUNTED_MAX;
    // The log's last position less the cursor: what lies between was never trimmed.
    let row = connection
        .query_one(
            &format!(
                "SELECT (SELECT count(*) FROM (SELECT 1 FROM invocations LIMIT {counted_max}) AS counted) AS invocations,
                        (SELECT queued_at_ms FROM (SELECT queued_at_ms, due_at_ms FROM invocations
                                                  ORDER BY position LIMIT {counted_max}) AS first
                         WHERE due_at_ms <= $1 LIMIT 1) AS oldest_at_ms,
                        greatest(0, coalesce((SELECT max(position) FROM events), 0)
                                    - (SELECT position FROM dispatch_cursor)) AS undispatched,
                        (SELECT count(*) FROM (SELECT 1 FROM deliveries
                                               WHERE state = 'pending' LIMIT {counted_max}) AS counted) AS pending,
                        (SELECT count(*) FROM (SELECT 1 FROM deliveries
                                               WHERE state = 'pending' AND due_at_ms <= $1
                                               LIMIT {counted_max}) AS counted) AS due"
            ),
            &[&signed(now_ms)],
        )
        .await
        .map_err(failed("counting what is to do"))?;
    Ok(Backlog {
        invocations: unsigned(&row, "invocations")?,
        oldest_invocation_at_ms: unsigned_opt(&row, "oldest_at_ms")?,
        undispatched_events: unsigned(&row, "undispatched")?,
        pending_deliveries: unsigned(&row, "pending")?,
        due_deliveries: unsigned(&row, "due")?,
    })
}
