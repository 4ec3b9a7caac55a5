//! The turn to claim the work of a runnable, or of a webhook: of several claims each sees what those before it left.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// Waits until no other step claims work of this one, and keeps others from it until this step has ended. Commits go on
/// meanwhile: they would wait if claims locked the row of an emitter or a webhook against each other.
pub(crate) async fn wait(connection: &Connection, id: &str) -> Result<(), StoreError> {
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    let locked = connection.query_one(sql, &[&id]).await;
    locked.map_err(failed("waiting to claim work")).map(drop)
}
