//! Contents that no file has: those that were replaced or deleted, and those in the making that nobody continues. They are
//! cleared away some chunks at a time, so that a step stays short however large a file was.

use std::sync::Arc;

use headwater_store::StoreError;

use crate::{
    clock::NOW_MS,
    connection::{Connection, failed},
    store::PostgresStore,
};

/// Chunks that one step deletes.
const CHUNKS_AT_ONCE: i64 = 128;

/// Clears away all whose time is over.
pub(super) async fn clear(store: &Arc<PostgresStore>) -> Result<(), StoreError> {
    let next = |connection: Connection| async move { clear_some(&connection, None).await };
    while store.write(next).await? {}
    Ok(())
}

/// Clears away a content that was given up by whoever wrote it.
pub(super) async fn clear_one(store: &Arc<PostgresStore>, id: i64) -> Result<(), StoreError> {
    let next = |connection: Connection| async move { clear_some(&connection, Some(id)).await };
    while store.write(next).await? {}
    Ok(())
}

/// Deletes some chunks of a content, or a content without any. False: there is none left. Two nodes may do so at once.
async fn clear_some(connection: &Connection, id: Option<i64>) -> Result<bool, StoreError> {
    let failed = failed("clearing contents of files away");
    let found = match id {
        // Its writer may not know that it is a file's.
        Some(id) => {
            let sql = "SELECT id FROM file_contents WHERE id = $1 AND kept_until_ms IS NOT NULL";
            connection.value_opt(sql, &[&id]).await
        }
        None => {
            let sql = format!(
                "SELECT id FROM file_contents WHERE kept_until_ms <= {NOW_MS} ORDER BY kept_until_ms LIMIT 1"
            );
            connection.value_opt(&sql, &[]).await
        }
    };
    let found: Option<i64> = found.map_err(&failed)?;
    let Some(id) = found else { return Ok(false) };
    let chunks = "DELETE FROM file_chunks WHERE content_id = $1 AND number = ANY (ARRAY(
                      SELECT number FROM file_chunks WHERE content_id = $1 ORDER BY number LIMIT $2))";
    let deleted = connection.execute(chunks, &[&id, &CHUNKS_AT_ONCE]).await;
    if deleted.map_err(&failed)? > 0 {
        return Ok(true);
    }
    let content = "DELETE FROM file_contents WHERE id = $1";
    let deleted = connection.execute(content, &[&id]).await;
    Ok(deleted.map_err(&failed)? > 0)
}
