//! Positions of the log: they become visible in their order.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// Awaits the turn of this transaction to append to the log. It comes before the first position is taken, and lasts
/// until the transaction has ended: no reader sees a position without those before it.
pub(crate) async fn await_turn(connection: &Connection) -> Result<(), StoreError> {
    let turn = "SELECT pg_advisory_xact_lock(hashtext('headwater log'))";
    let waited = connection.execute(turn, &[]).await;
    waited.map_err(failed("appending to the log")).map(drop)
}

/// The last position that was taken, as SQL. Its event may be of a transaction that has not ended, or was rolled back.
pub(crate) const LAST: &str =
    "(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM events_position_seq)";
