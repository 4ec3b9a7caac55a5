//! Writing the records of a data store, within its limits.

use headwater_model::{limits::DataStoreLimits, time::EpochMs};
use headwater_store::{DataStoreRef, NewRecord, RecordWritten, StoreError};

use super::{
    stores::{count, id_of},
    sweep,
};
use crate::{
    connection::{Connection, failed},
    row::{get, signed, unsigned},
};

pub(super) async fn record(
    connection: &Connection,
    store: &DataStoreRef,
    record: &NewRecord,
    limits: DataStoreLimits,
    now_ms: EpochMs,
) -> Result<RecordWritten, StoreError> {
    let bytes = (record.key.len() + record.value.get().len()) as u64;
    if bytes > limits.bytes {
        return Ok(RecordWritten::TooManyBytes);
    }
    let id = match id_of(connection, store).await? {
        Some(id) => id,
        None if count(connection, &store.owner).await? >= limits.stores => {
            return Ok(RecordWritten::TooManyStores);
        }
        None => create(connection, store, now_ms).await?,
    };
    let mut written = room(connection, id, &record.key, bytes, limits).await?;
    if written != RecordWritten::Written {
        // Expired records must not count against the limits.
        sweep::expired_of(connection, id, now_ms).await?;
        written = room(connection, id, &record.key, bytes, limits).await?;
    }
    if written == RecordWritten::Written {
        put(connection, id, record, bytes, now_ms).await?;
    }
    Ok(written)
}

/// Creates the store and returns its id.
async fn create(
    connection: &Connection,
    store: &DataStoreRef,
    now_ms: EpochMs,
) -> Result<i64, StoreError> {
    connection
        .value(
            "INSERT INTO data_stores (owner_id, name, created_at_ms, updated_at_ms) VALUES ($1, $2, $3, $3) RETURNING id",
            &[&store.owner.tenant(), &store.name.as_str(), &signed(now_ms)],
        )
        .await
        .map_err(failed("making a data store"))
}

/// Whether a record of this size may replace the one with the same key.
async fn room(
    connection: &Connection,
    id: i64,
    key: &str,
    bytes: u64,
    limits: DataStoreLimits,
) -> Result<RecordWritten, StoreError> {
    let used = connection
        .query_one(
            "SELECT records, bytes FROM data_stores WHERE id = $1",
            &[&id],
        )
        .await
        .map_err(failed("measuring a data store"))?;
    let (records, used): (u64, u64) = (unsigned(&used, "records")?, unsigned(&used, "bytes")?);
    let former = bytes_of(connection, id, key).await?;
    let is_more = former.is_none() && records >= limits.records;
    let used = used + bytes - former.unwrap_or_default();
    Ok(if is_more {
        RecordWritten::TooManyRecords
    } else if used > limits.bytes {
        RecordWritten::TooManyBytes
    } else {
        RecordWritten::Written
    })
}

/// The bytes that the record of this key takes, expired or not.
async fn bytes_of(connection: &Connection, id: i64, key: &str) -> Result<Option<u64>, StoreError> {
    let bytes: Option<i64> = connection
        .value_opt(
            "SELECT bytes FROM data_store_records WHERE store_id = $1 AND key = $2",
            &[&id, &key],
        )
        .await
        .map_err(failed("measuring a record"))?;
    Ok(bytes.map(i64::unsigned_abs))
}

async fn put(
    connection: &Connection,
    id: i64,
    record: &NewRecord,
    bytes: u64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let former = bytes_of(connection, id, &record.key).await?;
    let written = connection
        .execute(
            "INSERT INTO data_store_records (store_id, key, bytes, expires_at_ms, updated_at_ms, value)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (store_id, key) DO UPDATE
             SET bytes = excluded.bytes, expires_at_ms = excluded.expires_at_ms,
                 updated_at_ms = excluded.updated_at_ms, value = excluded.value",
            &[
                &id,
                &record.key,
                &signed(bytes),
                &record.expires_at_ms.map(signed),
                &signed(now_ms),
                &record.value.get(),
            ],
        )
        .await;
    written.map_err(failed("writing a record"))?;
    let more = i64::from(former.is_none());
    let grown = signed(bytes) - signed(former.unwrap_or_default());
    changed(connection, id, more, grown, now_ms).await
}

pub(super) async fn expiry(
    connection: &Connection,
    store: &DataStoreRef,
    key: &str,
    expires_at_ms: Option<EpochMs>,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let Some(id) = id_of(connection, store).await? else {
        return Ok(false);
    };
    let changed = connection
        .execute(
            "UPDATE data_store_records SET expires_at_ms = $3
         WHERE store_id = $1 AND key = $2 AND (expires_at_ms IS NULL OR expires_at_ms > $4)",
            &[&id, &key, &expires_at_ms.map(signed), &signed(now_ms)],
        )
        .await;
    Ok(changed.map_err(failed("changing when a record expires"))? > 0)
}

pub(super) async fn delete(
    connection: &Connection,
    store: &DataStoreRef,
    key: &str,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let Some(id) = id_of(connection, store).await? else {
        return Ok(false);
    };
    let deleted = connection
        .query_opt(
            "DELETE FROM data_store_records WHERE store_id = $1 AND key = $2
             RETURNING bytes, expires_at_ms IS NULL OR expires_at_ms > $3 AS was_there",
            &[&id, &key, &signed(now_ms)],
        )
        .await
        .map_err(failed("deleting a record"))?;
    let Some(deleted) = deleted else {
        return Ok(false);
    };
    changed(connection, id, -1, -get::<i64>(&deleted, "bytes")?, now_ms).await?;
    get(&deleted, "was_there")
}

/// Gives the store another id; rows under the former id are swept later.
pub(super) async fn clear(
    connection: &Connection,
    store: &DataStoreRef,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let Some(former) = id_of(connection, store).await? else {
        return Ok(());
    };
    let created_at_ms: i64 = connection
        .value(
            "SELECT created_at_ms FROM data_stores WHERE id = $1",
            &[&former],
        )
        .await
        .map_err(failed("clearing a data store"))?;
    abandon(connection, former).await?;
    let id = create(connection, store, now_ms).await?;
    connection
        .execute(
            "UPDATE data_stores SET created_at_ms = $1 WHERE id = $2",
            &[&created_at_ms, &id],
        )
        .await
        .map_err(failed("clearing a data store"))
        .map(drop)
}

/// Deletes the store; its rows are swept later.
pub(super) async fn abandon(connection: &Connection, id: i64) -> Result<(), StoreError> {
    for sql in [
        "INSERT INTO data_store_leftovers (store_id) VALUES ($1)",
        "DELETE FROM data_stores WHERE id = $1",
    ] {
        connection
            .execute(sql, &[&id])
            .await
            .map_err(failed("deleting a data store"))?;
    }
    Ok(())
}

/// Adds the write to the store's counts.
async fn changed(
    connection: &Connection,
    id: i64,
    records: i64,
    bytes: i64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE data_stores SET records = records + $2, bytes = bytes + $3, updated_at_ms = $4 WHERE id = $1",
            &[&id, &records, &bytes, &signed(now_ms)],
        )
        .await
        .map_err(failed("counting a data store's records"))
        .map(drop)
}
