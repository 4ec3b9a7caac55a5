//! Data stores: key-value stores that components share by name.
//!
//! Unlike `$.service.db` they belong to no source and to no run: each operation is a step of its own, durable
//! when it returns, whatever becomes of the run that asked for it.

use async_trait::async_trait;
use headwater_model::{
    data_store::DataStoreName,
    limits::DataStoreLimits,
    page::{Page, PageRequest},
    time::EpochMs,
};
use serde_json::value::RawValue;

use crate::{error::StoreError, progress::Progress, tenants::Owner};

/// A data store by its owner and name: those of a workspace belong to its members together, others to their user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataStoreRef {
    /// The owner.
    pub owner: Owner,
    /// Its name.
    pub name: DataStoreName,
}

/// A data store without its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataStore {
    /// Its name.
    pub name: DataStoreName,
    /// How many records it has.
    pub records: u64,
    /// Bytes of keys and values. Records that have expired count until they are swept.
    pub bytes: u64,
    /// When it was first written to. Epoch milliseconds.
    pub created_at_ms: EpochMs,
    /// When it was last written to. Epoch milliseconds.
    pub updated_at_ms: EpochMs,
}

/// A record of a data store.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its key.
    pub key: String,
    /// Its value, byte for byte as it was written.
    pub value: Box<RawValue>,
    /// When it is gone, if ever. Epoch milliseconds.
    pub expires_at_ms: Option<EpochMs>,
    /// When it was last written. Epoch milliseconds.
    pub updated_at_ms: EpochMs,
}

/// A record about to be written.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Box<RawValue>,
    /// When it is to be gone, if ever. Epoch milliseconds.
    pub expires_at_ms: Option<EpochMs>,
}

/// A stretch of a data store's records, in the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordRange<'a> {
    /// Only records behind this key.
    pub after: Option<&'a str>,
    /// At most so many.
    pub limit: u32,
    /// No further record once the values have so many bytes.
    pub bytes: usize,
}

/// The result of writing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordWritten {
    /// It is there.
    Written,
    /// The owner has as many data stores as it may. Nothing was written.
    TooManyStores,
    /// The data store has as many records as it may. Nothing was written.
    TooManyRecords,
    /// The data store would have more bytes than it may. Nothing was written.
    TooManyBytes,
}

/// Data stores and their records. A store is there from its first write on.
///
/// Whatever reads MUST NOT show a record that has expired by `now_ms`, swept or not
/// (`conformance::data_stores::an_expired_record_is_gone_at_its_time`).
#[async_trait]
pub trait DataStores {
    /// A record.
    /// MUST be the store's of that owner alone (`conformance::data_stores::stores_of_a_name_are_their_owners_own`).
    async fn record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<Option<Record>, StoreError>;

    /// Records in the order of their keys' bytes.
    /// MUST return at least one if there is one, whatever `bytes` says
    /// (`conformance::data_stores::a_stretch_of_records_is_bounded_by_number_and_bytes`).
    async fn records(
        &self,
        store: &DataStoreRef,
        range: RecordRange<'_>,
        now_ms: EpochMs,
    ) -> Result<Vec<Record>, StoreError>;

    /// A page of records in the same order, which ends early behind [`headwater_model::limits::DATA_STORE_PAGE_BYTES`] of values.
    /// `total_count` counts those that have not expired.
    async fn record_page(
        &self,
        store: &DataStoreRef,
        page: &PageRequest<String>,
        now_ms: EpochMs,
    ) -> Result<Page<Record>, StoreError>;

    /// Keys alone, in the same order.
    async fn record_keys(
        &self,
        store: &DataStoreRef,
        after: Option<&str>,
        limit: u32,
        now_ms: EpochMs,
    ) -> Result<Vec<String>, StoreError>;

    /// Writes a record in place of the one of its key, and with it the time at which it expires.
    /// MUST write nothing over a limit (`conformance::data_stores::a_full_store_takes_no_more`).
    /// MUST take what has expired for gone (`conformance::data_stores::expired_records_make_room`).
    async fn write_record(
        &self,
        store: &DataStoreRef,
        record: NewRecord,
        limits: DataStoreLimits,
        now_ms: EpochMs,
    ) -> Result<RecordWritten, StoreError>;

    /// Changes when a record expires, and says whether it is there.
    async fn set_record_expiry(
        &self,
        store: &DataStoreRef,
        key: &str,
        expires_at_ms: Option<EpochMs>,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError>;

    /// Deletes a record, and says whether it was there.
    async fn delete_record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError>;

    /// Deletes all records, however many there are, and keeps the store.
    /// MUST leave none that was there before (`conformance::data_stores::clearing_leaves_an_empty_store`).
    async fn clear_records(&self, store: &DataStoreRef, now_ms: EpochMs) -> Result<(), StoreError>;

    /// A data store, if it has been written to. `records` counts those that have not expired.
    async fn data_store(
        &self,
        store: &DataStoreRef,
        now_ms: EpochMs,
    ) -> Result<Option<DataStore>, StoreError>;

    /// A page of the owner's data stores, in the order of names. `records` counts as above.
    async fn data_stores(
        &self,
        owner: &Owner,
        page: &PageRequest<DataStoreName>,
        now_ms: EpochMs,
    ) -> Result<Page<DataStore>, StoreError>;

    /// Deletes a data store with its records, and says whether it was there.
    async fn delete_data_store(&self, store: &DataStoreRef) -> Result<bool, StoreError>;

    /// Frees the room of up to `limit` records that have expired or that were cleared.
    /// MUST free them all in the end (`conformance::data_stores::sweeping_frees_what_is_gone`).
    async fn sweep_records(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError>;
}
