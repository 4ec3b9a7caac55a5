//! Data stores: key-value stores that components share by name.
//!
//! Unlike `$.service.db` they belong neither to a source nor to a run: each operation is a step of its own, durable
//! when it returns, even if the run that requested it fails.

use async_trait::async_trait;
use headwater_model::{
    data_store::DataStoreName,
    id::SourceId,
    limits::DataStoreLimits,
    page::{Page, PageRequest},
    time::EpochMs,
};
use serde_json::value::RawValue;

use crate::{error::StoreError, progress::Progress, tenants::Owner};

/// A data store by its owner and name. A workspace's stores are shared by its members; others belong to their user.
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
    /// The number of its records.
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

/// A record to write.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Box<RawValue>,
    /// When it is to be gone, if ever. Epoch milliseconds.
    pub expires_at_ms: Option<EpochMs>,
}

/// A range of a data store's records, in the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordRange<'a> {
    /// Only records after this key.
    pub after: Option<&'a str>,
    /// The maximum number of records.
    pub limit: u32,
    /// The bytes of values after which no further record is added.
    pub bytes: usize,
}

/// A source that uses a data store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataStoreSource {
    /// The source.
    pub id: SourceId,
    /// Its name.
    pub name: String,
    /// The props that stand for the data store.
    pub props: Vec<String>,
}

/// The result of writing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordWritten {
    /// The record was written.
    Written,
    /// The owner has the maximum number of data stores. Nothing was written.
    TooManyStores,
    /// The data store has the maximum number of records. Nothing was written.
    TooManyRecords,
    /// The data store would exceed its maximum size. Nothing was written.
    TooManyBytes,
}

/// Data stores and their records. A store exists from its first write on.
///
/// Reads MUST NOT show a record that has expired by `now_ms`, swept or not
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
    /// MUST return at least one record if there is one, even if it exceeds `bytes`
    /// (`conformance::data_stores::a_stretch_of_records_is_bounded_by_number_and_bytes`).
    async fn records(
        &self,
        store: &DataStoreRef,
        range: RecordRange<'_>,
        now_ms: EpochMs,
    ) -> Result<Vec<Record>, StoreError>;

    /// A page of the records whose keys begin with `prefix`, in the same order, which ends early after
    /// [`headwater_model::limits::DATA_STORE_PAGE_BYTES`] of values. `total_count` counts those that have not expired.
    /// MUST take any text for a prefix, and read no record in front of it
    /// (`conformance::data_stores::records_are_paged_by_the_beginning_of_their_keys`).
    async fn record_page(
        &self,
        store: &DataStoreRef,
        prefix: &str,
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

    /// Writes a record and its expiry, replacing the record of the same key.
    /// MUST write nothing over a limit (`conformance::data_stores::a_full_store_takes_no_more`).
    /// MUST treat expired records as gone (`conformance::data_stores::expired_records_make_room`).
    async fn write_record(
        &self,
        store: &DataStoreRef,
        record: NewRecord,
        limits: DataStoreLimits,
        now_ms: EpochMs,
    ) -> Result<RecordWritten, StoreError>;

    /// Changes a record's expiry. False: there is no such record.
    async fn set_record_expiry(
        &self,
        store: &DataStoreRef,
        key: &str,
        expires_at_ms: Option<EpochMs>,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError>;

    /// Deletes a record. False: there was none.
    async fn delete_record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError>;

    /// Deletes all records and keeps the store.
    /// MUST leave none of the former records (`conformance::data_stores::clearing_leaves_an_empty_store`).
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

    /// The sources whose props stand for a data store, in the order of ids, whether it has been written to or not.
    /// MUST be those of its owner alone, with every prop by its value or its default
    /// (`conformance::data_stores::the_sources_of_a_data_store_are_those_whose_props_stand_for_it`).
    async fn data_store_sources(
        &self,
        store: &DataStoreRef,
    ) -> Result<Vec<DataStoreSource>, StoreError>;

    /// Deletes a data store with its records. False: there was none.
    async fn delete_data_store(&self, store: &DataStoreRef) -> Result<bool, StoreError>;

    /// Frees the space of up to `limit` expired or cleared records.
    /// MUST free all of them in the end (`conformance::data_stores::sweeping_frees_what_is_gone`).
    async fn sweep_records(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError>;
}

/// The first text behind all that begin with the prefix, in the order of bytes; none if there is no such text.
pub fn end_of_prefix(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        // Not every number is a character.
        let mut later = u32::from(last) + 1..=u32::from(char::MAX);
        if let Some(next) = later.find_map(char::from_u32) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::end_of_prefix;

    #[test]
    fn a_prefix_ends_before_the_next_text_of_its_length() {
        for (prefix, end) in [
            ("", None),
            ("a", Some("b")),
            ("a\u{0}", Some("a\u{1}")),
            ("é", Some("ê")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}\u{10ffff}", None),
        ] {
            assert_eq!(end_of_prefix(prefix).as_deref(), end, "{prefix:?}");
        }
    }
}
