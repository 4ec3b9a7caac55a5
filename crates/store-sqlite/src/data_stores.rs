//! The data store trait on SQLite.

mod read;
mod sources;
pub(crate) mod stores;
mod sweep;
mod write;

use async_trait::async_trait;
use headwater_model::{
    data_store::DataStoreName,
    limits::DataStoreLimits,
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    DataStore, DataStoreRef, DataStoreSource, DataStores, NewRecord, Owner, Progress, Record,
    RecordRange, RecordWritten, StoreError,
};

use crate::store::SqliteStore;

#[async_trait]
impl DataStores for SqliteStore {
    async fn record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<Option<Record>, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.read(move |connection| read::record(connection, &store, &key, now_ms))
            .await
    }

    async fn records(
        &self,
        store: &DataStoreRef,
        range: RecordRange<'_>,
        now_ms: EpochMs,
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
        prefix: &str,
        page: &PageRequest<String>,
        now_ms: EpochMs,
    ) -> Result<Page<Record>, StoreError> {
        let (store, prefix, page) = (store.clone(), prefix.to_owned(), page.clone());
        self.read(move |connection| read::page(connection, &store, &prefix, &page, now_ms))
            .await
    }

    async fn record_keys(
        &self,
        store: &DataStoreRef,
        after: Option<&str>,
        limit: u32,
        now_ms: EpochMs,
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
        now_ms: EpochMs,
    ) -> Result<RecordWritten, StoreError> {
        let store = store.clone();
        self.write(move |connection| write::record(connection, &store, &record, limits, now_ms))
            .await
    }

    async fn set_record_expiry(
        &self,
        store: &DataStoreRef,
        key: &str,
        expires_at_ms: Option<EpochMs>,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.write(move |connection| write::expiry(connection, &store, &key, expires_at_ms, now_ms))
            .await
    }

    async fn delete_record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.write(move |connection| write::delete(connection, &store, &key, now_ms))
            .await
    }

    async fn clear_records(&self, store: &DataStoreRef, now_ms: EpochMs) -> Result<(), StoreError> {
        let store = store.clone();
        self.write(move |connection| write::clear(connection, &store, now_ms))
            .await
    }

    async fn data_store(
        &self,
        store: &DataStoreRef,
        now_ms: EpochMs,
    ) -> Result<Option<DataStore>, StoreError> {
        let store = store.clone();
        self.read(move |connection| stores::one(connection, &store, now_ms))
            .await
    }

    async fn data_stores(
        &self,
        owner: &Owner,
        page: &PageRequest<DataStoreName>,
        now_ms: EpochMs,
    ) -> Result<Page<DataStore>, StoreError> {
        let (owner, page) = (owner.clone(), page.clone());
        self.read(move |connection| stores::listed(connection, &owner, &page, now_ms))
            .await
    }

    async fn data_store_sources(
        &self,
        store: &DataStoreRef,
    ) -> Result<Vec<DataStoreSource>, StoreError> {
        let store = store.clone();
        self.read(move |connection| sources::of(connection, &store))
            .await
    }

    async fn delete_data_store(&self, store: &DataStoreRef) -> Result<bool, StoreError> {
        let store = store.clone();
        self.write(move |connection| match stores::id_of(connection, &store)? {
            Some(id) => write::abandon(connection, id).map(|()| true),
            None => Ok(false),
        })
        .await
    }

    async fn sweep_records(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        self.write(move |connection| sweep::step(connection, now_ms, limit))
            .await
    }
}
