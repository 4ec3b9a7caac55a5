//! Data stores: which there are, and the trait over them. Their records are read and written in the modules below.

mod read;
mod sweep;
mod write;

use async_trait::async_trait;
use headwater_model::{
    data_store::DataStoreName,
    limits::DataStoreLimits,
    page::{Page, PageRequest, Position},
};
use headwater_store::{
    DataStore, DataStoreRef, DataStores, NewRecord, Owner, Progress, Record, RecordRange,
    RecordWritten, StoreError,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    SqliteStore,
    connection::failed,
    row::{get, parsed, signed, unsigned},
};

#[async_trait]
impl DataStores for SqliteStore {
    async fn record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: u64,
    ) -> Result<Option<Record>, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.read(move |connection| read::record(connection, &store, &key, now_ms))
            .await
    }

    async fn records(
        &self,
        store: &DataStoreRef,
        range: RecordRange<'_>,
        now_ms: u64,
    ) -> Result<Vec<Record>, StoreError> {
        let (store, after) = (store.clone(), range.after.map(str::to_owned));
        let (limit, bytes) = (range.limit, range.bytes);
        self.read(move |connection| {
            let after = after.as_deref();
            let range = RecordRange {
                after,
                limit,
                bytes,
            };
            read::records(connection, &store, range, now_ms)
        })
        .await
    }

    async fn record_page(
        &self,
        store: &DataStoreRef,
        page: &PageRequest<String>,
        now_ms: u64,
    ) -> Result<Page<Record>, StoreError> {
        let (store, page) = (store.clone(), page.clone());
        self.read(move |connection| read::page(connection, &store, &page, now_ms))
            .await
    }

    async fn record_keys(
        &self,
        store: &DataStoreRef,
        after: Option<&str>,
        limit: u32,
        now_ms: u64,
    ) -> Result<Vec<String>, StoreError> {
        let (store, after) = (store.clone(), after.map(str::to_owned));
        self.read(move |connection| read::keys(connection, &store, after.as_deref(), limit, now_ms))
            .await
    }

    async fn write_record(
        &self,
        store: &DataStoreRef,
        record: NewRecord,
        limits: DataStoreLimits,
        now_ms: u64,
    ) -> Result<RecordWritten, StoreError> {
        let store = store.clone();
        self.write(move |connection| write::record(connection, &store, &record, limits, now_ms))
            .await
    }

    async fn set_record_expiry(
        &self,
        store: &DataStoreRef,
        key: &str,
        expires_at_ms: Option<u64>,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.write(move |connection| write::expiry(connection, &store, &key, expires_at_ms, now_ms))
            .await
    }

    async fn delete_record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.write(move |connection| write::delete(connection, &store, &key, now_ms))
            .await
    }

    async fn clear_records(&self, store: &DataStoreRef, now_ms: u64) -> Result<(), StoreError> {
        let store = store.clone();
        self.write(move |connection| write::clear(connection, &store, now_ms))
            .await
    }

    async fn data_store(
        &self,
        store: &DataStoreRef,
        now_ms: u64,
    ) -> Result<Option<DataStore>, StoreError> {
        let store = store.clone();
        self.read(move |connection| one(connection, &store, now_ms))
            .await
    }

    async fn data_stores(
        &self,
        owner: &Owner,
        page: &PageRequest<DataStoreName>,
        now_ms: u64,
    ) -> Result<Page<DataStore>, StoreError> {
        let (owner, page) = (owner.clone(), page.clone());
        self.read(move |connection| listed(connection, &owner, &page, now_ms))
            .await
    }

    async fn delete_data_store(&self, store: &DataStoreRef) -> Result<bool, StoreError> {
        let store = store.clone();
        self.write(move |connection| match id_of(connection, &store)? {
            Some(id) => write::abandon(connection, id).map(|()| true),
            None => Ok(false),
        })
        .await
    }

    async fn sweep_records(&self, now_ms: u64, limit: u32) -> Result<Progress, StoreError> {
        self.write(move |connection| sweep::step(connection, now_ms, limit))
            .await
    }
}

/// Whose stores these are: a workspace's, or else a user's.
fn owner_id(owner: &Owner) -> &str {
    match &owner.workspace_id {
        Some(id) => id.as_str(),
        None => owner.user_id.as_str(),
    }
}

fn id_of(connection: &Connection, store: &DataStoreRef) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached("SELECT id FROM data_stores WHERE owner_id = ? AND name = ?")
        .and_then(|mut statement| {
            let named = params![owner_id(&store.owner), store.name.as_str()];
            statement.query_row(named, |row| row.get(0)).optional()
        })
        .map_err(failed("finding a data store"))
}

/// Deletes every data store of this owner; their records are swept later.
pub(crate) fn delete_all_of(connection: &Connection, owner_id: &str) -> Result<(), StoreError> {
    for sql in [
        "INSERT INTO data_store_leftovers (store_id) SELECT id FROM data_stores WHERE owner_id = ?",
        "DELETE FROM data_stores WHERE owner_id = ?",
    ] {
        connection
            .execute(sql, [owner_id])
            .map_err(failed("deleting data stores"))?;
    }
    Ok(())
}

/// The columns of a store, `?1` being the time: what has expired is few, because it is swept.
const COLUMNS: &str = "name, bytes, created_at_ms, updated_at_ms,
    records - (SELECT count(*) FROM data_store_records
               WHERE expires_at_ms <= ?1 AND store_id = data_stores.id) AS records";

fn one(
    connection: &Connection,
    store: &DataStoreRef,
    now_ms: u64,
) -> Result<Option<DataStore>, StoreError> {
    let failed = failed("reading a data store");
    let sql = format!("SELECT {COLUMNS} FROM data_stores WHERE owner_id = ?2 AND name = ?3");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![
            signed(now_ms),
            owner_id(&store.owner),
            store.name.as_str()
        ])
        .map_err(&failed)?;
    rows.next().map_err(&failed)?.map(from_row).transpose()
}

fn listed(
    connection: &Connection,
    owner: &Owner,
    page: &PageRequest<DataStoreName>,
    now_ms: u64,
) -> Result<Page<DataStore>, StoreError> {
    let failed = failed("listing data stores");
    let (bound, order, from) = match &page.position {
        Position::First => ("name > ?3", "ASC", ""),
        Position::After(after) => ("name > ?3", "ASC", after.as_str()),
        Position::Before(before) => ("name < ?3", "DESC", before.as_str()),
    };
    let total_count: u64 = count(connection, owner)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM data_stores WHERE owner_id = ?2 AND {bound} ORDER BY name {order} LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![signed(now_ms), owner_id(owner), from, page.limit])
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(from_row(row)?);
    }
    if order == "DESC" {
        items.reverse();
    }
    Ok(Page { total_count, items })
}

/// How many data stores the owner has.
fn count(connection: &Connection, owner: &Owner) -> Result<u64, StoreError> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM data_stores WHERE owner_id = ?")
        .and_then(|mut statement| statement.query_row([owner_id(owner)], |row| row.get(0)))
        .map_err(failed("counting data stores"))?;
    Ok(count.unsigned_abs())
}

fn from_row(row: &Row<'_>) -> Result<DataStore, StoreError> {
    Ok(DataStore {
        name: parsed(row, "name")?,
        records: get::<i64>(row, "records")?.max(0).unsigned_abs(),
        bytes: unsigned(row, "bytes")?,
        created_at_ms: unsigned(row, "created_at_ms")?,
        updated_at_ms: unsigned(row, "updated_at_ms")?,
    })
}
