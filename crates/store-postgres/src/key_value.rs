//! Key-value maps and dedupe state behind the trait.

use std::collections::BTreeMap;

use async_trait::async_trait;
use headwater_model::{dedupe, id::RunnableId};
use headwater_store::{KeyValue, RunCommit, StoreError};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    connection::{Connection, failed},
    emitters,
    row::{get, json, list},
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

/// Writes the keys of runs that are committed in this order.
pub(crate) async fn write(
    connection: &Connection,
    commits: &[&RunCommit],
) -> Result<(), StoreError> {
    let writes = commits.iter().flat_map(|commit| {
        let id = commit.runnable().as_str();
        let writes = commit.kv_writes.iter();
        writes.map(move |write| ((id, write.key.as_str()), write.value.as_deref()))
    });
    // The last write of each key counts.
    let writes: BTreeMap<(&str, &str), Option<&RawValue>> = writes.collect();
    let values = writes
        .iter()
        .filter_map(|(of, value)| Some((of, (*value)?)));
    let values: Vec<_> = values.collect();
    if !values.is_empty() {
        connection
            .execute(
                "INSERT INTO key_values (runnable_id, key, value)
                 SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
                 ON CONFLICT (runnable_id, hash_of(key)) DO UPDATE SET value = excluded.value",
                &[
                    &list(&values, |((id, _), _)| *id),
                    &list(&values, |((_, key), _)| *key),
                    &list(&values, |(_, value)| value.get()),
                ],
            )
            .await
            .map_err(failed("writing keys"))?;
    }
    let deleted = writes.iter().filter(|(_, value)| value.is_none());
    let deleted: Vec<_> = deleted.map(|(of, _)| of).collect();
    if !deleted.is_empty() {
        connection
            .execute(
                "DELETE FROM key_values USING unnest($1::text[], $2::text[]) AS gone (id, name)
                 WHERE runnable_id = id AND hash_of(key) = hash_of(name) AND key = name",
                &[
                    &list(&deleted, |(id, _)| *id),
                    &list(&deleted, |(_, key)| *key),
                ],
            )
            .await
            .map_err(failed("deleting keys"))?;
    }
    Ok(())
}
