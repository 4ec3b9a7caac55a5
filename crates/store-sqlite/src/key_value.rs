//! Key-value maps and dedupe state behind the trait.

use async_trait::async_trait;
use headwater_model::{dedupe, id::RunnableId};
use headwater_store::{KeyValue, StoreError};
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::{
    connection::failed,
    emitters,
    row::{get, json},
    store::SqliteStore,
};

#[async_trait]
impl KeyValue for SqliteStore {
    async fn key_values(&self, runnable: &RunnableId) -> Result<Map<String, Value>, StoreError> {
        let id = runnable.clone();
        self.read(move |connection| key_values(connection, id.as_str()))
            .await
    }

    async fn dedupe_state(
        &self,
        runnable: &RunnableId,
    ) -> Result<Option<dedupe::State>, StoreError> {
        let id = runnable.clone();
        self.read(move |connection| emitters::dedupe_state(connection, id.as_str()))
            .await
    }
}

fn key_values(connection: &Connection, id: &str) -> Result<Map<String, Value>, StoreError> {
    let failed = failed("reading the key-value store");
    let mut statement = connection
        .prepare_cached("SELECT key, value FROM key_values WHERE runnable_id = ? ORDER BY key")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let mut map = Map::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        map.insert(get(row, "key")?, json(row, "value")?);
    }
    Ok(map)
}
