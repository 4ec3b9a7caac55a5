//! Writing the records of a data store, within its limits.

use headwater_model::{limits::DataStoreLimits, time::EpochMs};
use headwater_store::{DataStoreRef, NewRecord, RecordWritten, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    stores::{count, id_of},
    sweep,
};
use crate::{
    connection::{ExecutePrepared as _, failed},
    row::signed,
};

pub(super) fn record(
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
    let id = match id_of(connection, store)? {
        Some(id) => id,
        None if count(connection, &store.owner)? >= limits.stores => {
            return Ok(RecordWritten::TooManyStores);
        }
        None => create(connection, store, now_ms)?,
    };
    let mut written = room(connection, id, &record.key, bytes, limits)?;
    if written != RecordWritten::Written {
        // Expired records must not count against the limits.
        sweep::expired_of(connection, id, now_ms)?;
        written = room(connection, id, &record.key, bytes, limits)?;
    }
    if written == RecordWritten::Written {
        put(connection, id, record, bytes, now_ms)?;
    }
    Ok(written)
}

/// Creates the store and returns its id.
fn create(
    connection: &Connection,
    store: &DataStoreRef,
    now_ms: EpochMs,
) -> Result<i64, StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO data_stores (owner_id, name, created_at_ms, updated_at_ms) VALUES (?1, ?2, ?3, ?3)",
            params![store.owner.tenant(), store.name.as_str(), signed(now_ms)],
        )
        .map_err(failed("making a data store"))?;
    Ok(connection.last_insert_rowid())
}

/// Whether a record of this size may replace the one with the same key.
fn room(
    connection: &Connection,
    id: i64,
    key: &str,
    bytes: u64,
    limits: DataStoreLimits,
) -> Result<RecordWritten, StoreError> {
    let (records, used): (i64, i64) = connection
        .prepare_cached("SELECT records, bytes FROM data_stores WHERE id = ?")
        .and_then(|mut statement| statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))))
        .map_err(failed("measuring a data store"))?;
    let former = bytes_of(connection, id, key)?;
    let is_more = former.is_none() && records.unsigned_abs() >= limits.records;
    let used = used.unsigned_abs() + bytes - former.unwrap_or_default();
    Ok(if is_more {
        RecordWritten::TooManyRecords
    } else if used > limits.bytes {
        RecordWritten::TooManyBytes
    } else {
        RecordWritten::Written
    })
}

/// The bytes that the record of this key takes, expired or not.
fn bytes_of(connection: &Connection, id: i64, key: &str) -> Result<Option<u64>, StoreError> {
    let bytes: Option<i64> = connection
        .prepare_cached("SELECT bytes FROM data_store_records WHERE store_id = ? AND key = ?")
        .and_then(|mut statement| {
            statement
                .query_row(params![id, key], |row| row.get(0))
                .optional()
        })
        .map_err(failed("measuring a record"))?;
    Ok(bytes.map(i64::unsigned_abs))
}

fn put(
    connection: &Connection,
    id: i64,
    record: &NewRecord,
    bytes: u64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let former = bytes_of(connection, id, &record.key)?;
    let written = connection.execute_prepared(
        "INSERT INTO data_store_records (store_id, key, bytes, expires_at_ms, updated_at_ms, value)
             VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (store_id, key) DO UPDATE
             SET bytes = excluded.bytes, expires_at_ms = excluded.expires_at_ms,
                 updated_at_ms = excluded.updated_at_ms, value = excluded.value",
        params![
            id,
            record.key,
            signed(bytes),
            record.expires_at_ms.map(signed),
            signed(now_ms),
            record.value.get(),
        ],
    );
    written.map_err(failed("writing a record"))?;
    let more = i64::from(former.is_none());
    let grown = signed(bytes) - signed(former.unwrap_or_default());
    changed(connection, id, more, grown, now_ms)
}

pub(super) fn expiry(
    connection: &Connection,
    store: &DataStoreRef,
    key: &str,
    expires_at_ms: Option<EpochMs>,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let Some(id) = id_of(connection, store)? else {
        return Ok(false);
    };
    let changed = connection.execute_prepared(
        "UPDATE data_store_records SET expires_at_ms = ?3
         WHERE store_id = ?1 AND key = ?2 AND (expires_at_ms IS NULL OR expires_at_ms > ?4)",
        params![id, key, expires_at_ms.map(signed), signed(now_ms)],
    );
    Ok(changed.map_err(failed("changing when a record expires"))? > 0)
}

pub(super) fn delete(
    connection: &Connection,
    store: &DataStoreRef,
    key: &str,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let failed = failed("deleting a record");
    let Some(id) = id_of(connection, store)? else {
        return Ok(false);
    };
    let deleted: Option<(i64, bool)> = connection
        .prepare_cached(
            "DELETE FROM data_store_records WHERE store_id = ?1 AND key = ?2
             RETURNING bytes, expires_at_ms IS NULL OR expires_at_ms > ?3",
        )
        .and_then(|mut statement| {
            let row = params![id, key, signed(now_ms)];
            statement
                .query_row(row, |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
        .map_err(&failed)?;
    if let Some((bytes, _)) = deleted {
        changed(connection, id, -1, -bytes, now_ms)?;
    }
    Ok(deleted.is_some_and(|(_, was_there)| was_there))
}

/// Gives the store another id; rows under the former id are swept later.
pub(super) fn clear(
    connection: &Connection,
    store: &DataStoreRef,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let Some(former) = id_of(connection, store)? else {
        return Ok(());
    };
    let created_at_ms: i64 = connection
        .query_row(
            "SELECT created_at_ms FROM data_stores WHERE id = ?",
            [former],
            |row| row.get(0),
        )
        .map_err(failed("clearing a data store"))?;
    abandon(connection, former)?;
    let id = create(connection, store, now_ms)?;
    connection
        .execute_prepared(
            "UPDATE data_stores SET created_at_ms = ? WHERE id = ?",
            [created_at_ms, id],
        )
        .map_err(failed("clearing a data store"))
        .map(drop)
}

/// Deletes the store; its rows are swept later.
pub(super) fn abandon(connection: &Connection, id: i64) -> Result<(), StoreError> {
    for sql in [
        "INSERT INTO data_store_leftovers (store_id) VALUES (?)",
        "DELETE FROM data_stores WHERE id = ?",
    ] {
        connection
            .execute_prepared(sql, [id])
            .map_err(failed("deleting a data store"))?;
    }
    Ok(())
}

/// Adds the write to the store's counts.
fn changed(
    connection: &Connection,
    id: i64,
    records: i64,
    bytes: i64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "UPDATE data_stores SET records = records + ?2, bytes = bytes + ?3, updated_at_ms = ?4 WHERE id = ?1",
            params![id, records, bytes, signed(now_ms)],
        )
        .map_err(failed("counting a data store's records"))
        .map(drop)
}
