//! The data store trait on PostgreSQL.

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

use crate::store::PostgresStore;

#[async_trait]
impl DataStores for PostgresStore {
    async fn record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<Option<Record>, StoreError> {
        self.read(|connection| async move { read::record(&connection, store, key, now_ms).await })
            .await
    }

    async fn records(
        &self,
        store: &DataStoreRef,
        range: RecordRange<'_>,
        now_ms: EpochMs,
    ) -> Result<Vec<Record>, StoreError> {
        self.read(
            |connection| async move { read::records(&connection, store, range, now_ms).await },
        )
        .await
    }

    async fn record_page(
        &self,
        store: &DataStoreRef,
        prefix: &str,
        page: &PageRequest<String>,
        now_ms: EpochMs,
    ) -> Result<Page<Record>, StoreError> {
        self.read(
            |connection| async move { read::page(&connection, store, prefix, page, now_ms).await },
        )
        .await
    }

    async fn record_keys(
        &self,
        store: &DataStoreRef,
        after: Option<&str>,
        limit: u32,
        now_ms: EpochMs,
    ) -> Result<Vec<String>, StoreError> {
        self.read(
            |connection| async move { read::keys(&connection, store, after, limit, now_ms).await },
        )
        .await
    }

    async fn write_record(
        &self,
        store: &DataStoreRef,
        record: NewRecord,
        limits: DataStoreLimits,
        now_ms: EpochMs,
    ) -> Result<RecordWritten, StoreError> {
        let record = &record;
        self.write(|connection| async move {
            write::record(&connection, store, record, limits, now_ms).await
        })
        .await
    }

    async fn set_record_expiry(
        &self,
        store: &DataStoreRef,
        key: &str,
        expires_at_ms: Option<EpochMs>,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        self.write(|connection| async move {
            write::expiry(&connection, store, key, expires_at_ms, now_ms).await
        })
        .await
    }

    async fn delete_record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        self.write(|connection| async move { write::delete(&connection, store, key, now_ms).await })
            .await
    }

    async fn clear_records(&self, store: &DataStoreRef, now_ms: EpochMs) -> Result<(), StoreError> {
        self.write(|connection| async move { write::clear(&connection, store, now_ms).await })
            .await
    }

    async fn data_store(
        &self,
        store: &DataStoreRef,
        now_ms: EpochMs,
    ) -> Result<Option<DataStore>, StoreError> {
        self.read(|connection| async move { stores::one(&connection, store, now_ms).await })
            .await
    }

    async fn data_stores(
        &self,
        owner: &Owner,
        page: &PageRequest<DataStoreName>,
        now_ms: EpochMs,
    ) -> Result<Page<DataStore>, StoreError> {
        self.read(
            |connection| async move { stores::listed(&connection, owner, page, now_ms).await },
        )
        .await
    }

    async fn data_store_sources(
        &self,
        store: &DataStoreRef,
    ) -> Result<Vec<DataStoreSource>, StoreError> {
        self.read(|connection| async move { sources::of(&connection, store).await })
            .await
    }

    async fn delete_data_store(&self, store: &DataStoreRef) -> Result<bool, StoreError> {
        self.write(|connection| async move {
            match stores::id_of(&connection, store).await? {
                Some(id) => write::abandon(&connection, id).await.map(|()| true),
                None => Ok(false),
            }
        })
        .await
    }

    async fn sweep_records(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        self.write(|connection| async move { sweep::step(&connection, now_ms, limit).await })
            .await
    }
}
