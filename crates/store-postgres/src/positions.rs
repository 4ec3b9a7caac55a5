//! Positions of the log: they become visible in their order.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// Takes the turn to append to the log, as SQL. It lasts until the transaction has ended, so that no reader sees a position
/// without those before it. The statement looks at no data, so that a transaction that begins with it sees everything
/// of those that had their turn before.
macro_rules! take_turn {
    () => {
        "LOCK TABLE log_turn IN EXCLUSIVE MODE"
    };
}
pub(crate) use take_turn;

/// Awaits the turn of a transaction that finds out late that it appends: before it takes its first position.
pub(crate) async fn await_turn(connection: &Connection) -> Result<(), StoreError> {
    let waited = connection.run(take_turn!()).await;
    waited.map_err(failed("appending to the log"))
}

/// The last position that was taken, as SQL. Its event may be of a transaction that has not ended, or was rolled back.
pub(crate) const LAST: &str =
    "(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM events_position_seq)";
