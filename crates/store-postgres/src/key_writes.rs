//! Keys that runs write: set, overwritten, deleted.

use std::collections::BTreeMap;

use headwater_store::{RunCommit, StoreError};
use serde_json::value::RawValue;

use crate::{
    connection::{Connection, failed},
    row::list,
};

/// Writes the keys of runs that are committed in this order.
pub(crate) async fn all(connection: &Connection, commits: &[&RunCommit]) -> Result<(), StoreError> {
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
