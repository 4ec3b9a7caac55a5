//! The size of the backlog, for monitoring: a few index lookups, none of which reads the rows themselves.

use headwater_model::time::EpochMs;
use headwater_store::{Backlog, StoreError};
use rusqlite::Connection;

use crate::{
    connection::failed,
    row::{moment, signed},
};

pub(crate) fn read(connection: &Connection, now_ms: EpochMs) -> Result<Backlog, StoreError> {
    let counted_max = Backlog::COUNTED_MAX;
    // The log's last position less the cursor: what lies between was never trimmed.
    connection
        .prepare_cached(&format!(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM invocations LIMIT {counted_max})),
                    (SELECT queued_at_ms FROM (SELECT queued_at_ms, due_at_ms FROM invocations
                                              ORDER BY position LIMIT {counted_max})
                     WHERE due_at_ms <= ?1 LIMIT 1),
                    max(0, coalesce((SELECT max(position) FROM events), 0) - (SELECT position FROM dispatch_cursor)),
                    (SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT {counted_max})),
                    (SELECT count(*) FROM (SELECT 1 FROM deliveries
                                           WHERE state = 'pending' AND due_at_ms <= ?1 LIMIT {counted_max}))"
        ))
        .and_then(|mut statement| {
            statement.query_row([signed(now_ms)], |row| {
                let oldest: Option<i64> = row.get(1)?;
                Ok(Backlog {
                    invocations: row.get::<_, i64>(0)?.unsigned_abs(),
                    oldest_invocation_at_ms: oldest.map(moment),
                    undispatched_events: row.get::<_, i64>(2)?.unsigned_abs(),
                    pending_deliveries: row.get::<_, i64>(3)?.unsigned_abs(),
                    due_deliveries: row.get::<_, i64>(4)?.unsigned_abs(),
                })
            })
        })
        .map_err(failed("counting what is to do"))
}
