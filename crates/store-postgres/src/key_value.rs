//! Key-value maps and dedupe state behind the trait.

use async_trait::async_trait;
use headwater_model::{dedupe, id::RunnableId};
use headwater_store::{KeyValue, StoreError};
use serde_json::{Map, Value};

use crate::{
    connection::{Connection, failed},
    emitters,
    row::{get, json},
    store::PostgresStore,
};

#[async_trait]
impl KeyValue for PostgresStore {
    async fn key_values(&self, runnable: &RunnableId) -> Result<Map<String, Value>, StoreError> {
        self.read(|connection| async move { key_values(&connection, runnable.as_str()).await })
            .await
    }

    async fn dedupe_state(
        &self,
        runnable: &RunnableId,
    ) -> Result<Option<dedupe::State>, StoreError> {
        self.read(|connection| async move {
            emitters::dedupe_state(&connection, runnable.as_str()).await
        })
        .await
    }
}

async fn key_values(connection: &Connection, id: &str) -> Result<Map<String, Value>, StoreError> {
    let failed = failed("reading the key-value store");
    let rows = connection
        .query(
            "SELECT key, value FROM key_values WHERE runnable_id = $1 ORDER BY key",
            &[&id],
        )
        .await
        .map_err(&failed)?;
    let mut map = Map::new();
    for row in &rows {
        map.insert(get(row, "key")?, json(row, "value")?);
    }
    Ok(map)
}
