//! Data stores: key-value stores that sources and actions of one owner share by name.
//!
//! Responsible for the requests of runs, and for the view of people. Not responsible for the rules of
//! names and records (`model::data_store`).

mod requests;

use std::{sync::Arc, time::Duration};

use headwater_engine::{StoreOperation, StoreReply};
use headwater_model::{
    data_store::{DataStoreName, InvalidDataStore, check_key, check_record},
    limits::DataStoreLimits,
    time::EpochMs,
};
use headwater_store::{
    DataStoreRef, NewRecord, Owner, Record, RecordRange, RecordWritten, StoreError,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

pub(crate) use self::requests::{STORE_FIELD, StoreRequests};
use crate::core::Core;

/// Keys per page of a listing that a run reads.
const KEYS_PAGE: u32 = 1_000;
/// Records per page.
const RECORDS_PAGE: u32 = 100;
/// Bytes of values per page.
const PAGE_BYTES: usize = 1024 * 1024;

/// A page of a listing that a run reads.
#[derive(Serialize)]
struct Listed<T> {
    items: Vec<T>,
    /// The place to continue, unless these were the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// Why an operation did nothing.
enum Fault {
    /// The component asked for something impossible.
    Refused(String),
    /// The store failed.
    Store(StoreError),
}

impl From<InvalidDataStore> for Fault {
    fn from(invalid: InvalidDataStore) -> Self {
        Self::Refused(invalid.to_string())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

type Answer = Result<Option<Box<RawValue>>, Fault>;

/// The data stores of all owners, as runs use them.
pub(crate) struct DataStores {
    core: Arc<Core>,
}

impl DataStores {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Serves the request of a run of this owner to a data store. Writes are durable when this returns.
    async fn operate(&self, owner: &Owner, name: &str, operation: StoreOperation) -> StoreReply {
        let name: DataStoreName = name
            .parse()
            .map_err(|error: InvalidDataStore| error.to_string())?;
        let store = DataStoreRef {
            owner: owner.clone(),
            name,
        };
        let answer = self.answer(&store, operation).await;
        answer.map_err(|fault| match fault {
            Fault::Refused(reason) => reason,
            Fault::Store(error) => {
                tracing::warn!(data_store = %store.name, %error, "a run could not use a data store");
                "it cannot be reached now; try again later".to_owned()
            }
        })
    }

    async fn answer(&self, store: &DataStoreRef, operation: StoreOperation) -> Answer {
        let now_ms = self.core.env.now_ms();
        let rows = &self.core.store;
        match operation {
            StoreOperation::Get { key } => {
                let record = rows.record(store, &key, now_ms).await?;
                Ok(record.map(|record| record.value))
            }
            StoreOperation::Has { key } => {
                let record = rows.record(store, &key, now_ms).await?;
                json(&record.is_some())
            }
            StoreOperation::Keys { after } => self.keys(store, after.as_deref(), now_ms).await,
            StoreOperation::Entries { after } => {
                let range = RecordRange {
                    after: after.as_deref(),
                    limit: RECORDS_PAGE,
                    bytes: PAGE_BYTES,
                };
                json(&entries(rows.records(store, range, now_ms).await?))
            }
            StoreOperation::Size => {
                let store = rows.data_store(store, now_ms).await?;
                json(&store.map_or(0, |store| store.records))
            }
            StoreOperation::Set {
                key,
                value,
                ttl_seconds,
            } => {
                let expires_at_ms = ttl_seconds.map(|seconds| later(now_ms, seconds));
                let record = NewRecord {
                    key,
                    value,
                    expires_at_ms,
                };
                self.set(store, record, now_ms).await
            }
            StoreOperation::SetTtl { key, ttl_seconds } => {
                check_key(&key)?;
                let expires_at_ms = ttl_seconds.map(|seconds| later(now_ms, seconds));
                let is_there = rows.set_record_expiry(store, &key, expires_at_ms, now_ms);
                json(&is_there.await?)
            }
            StoreOperation::Delete { key } => json(&rows.delete_record(store, &key, now_ms).await?),
            StoreOperation::Clear => {
                rows.clear_records(store, now_ms).await?;
                Ok(None)
            }
        }
    }

    async fn keys(&self, store: &DataStoreRef, after: Option<&str>, now_ms: EpochMs) -> Answer {
        let rows = &self.core.store;
        let keys = rows.record_keys(store, after, KEYS_PAGE, now_ms).await?;
        let is_last = keys.len() < KEYS_PAGE as usize;
        let after = keys.last().filter(|_| !is_last).cloned();
        json(&Listed { items: keys, after })
    }

    async fn set(&self, store: &DataStoreRef, record: NewRecord, now_ms: EpochMs) -> Answer {
        check_record(&record.key, record.value.get())?;
        let refused = self.write(store, record, now_ms).await?;
        refused.map_or(Ok(None), |reason| Err(Fault::Refused(reason)))
    }

    /// Writes a record that was checked, unless its owner has no room for it: then says why.
    pub(crate) async fn write(
        &self,
        store: &DataStoreRef,
        record: NewRecord,
        now_ms: EpochMs,
    ) -> Result<Option<String>, StoreError> {
        let limits = DataStoreLimits::default();
        let rows = &self.core.store;
        let written = rows.write_record(store, record, limits, now_ms).await?;
        Ok(refused(written, limits))
    }
}

/// Records as `[key, value]`, and where to go on: nobody knows that these were the last before there are no more.
fn entries(records: Vec<Record>) -> Listed<(String, Box<RawValue>)> {
    let after = records.last().map(|record| record.key.clone());
    let items = records
        .into_iter()
        .map(|record| (record.key, record.value))
        .collect();
    Listed { items, after }
}

/// Why a record was not written, if it was not.
fn refused(written: RecordWritten, limits: DataStoreLimits) -> Option<String> {
    match written {
        RecordWritten::Written => None,
        RecordWritten::TooManyStores => Some(format!(
            "there are already {} data stores, which is the limit; delete some first",
            limits.stores
        )),
        RecordWritten::TooManyRecords => Some(format!(
            "it already has {} records, which is the limit; delete some first",
            limits.records
        )),
        RecordWritten::TooManyBytes => Some(format!(
            "it would have more than {} bytes; delete some records first",
            limits.bytes
        )),
    }
}

/// So many seconds from now.
pub(crate) fn later(now_ms: EpochMs, seconds: f64) -> EpochMs {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, which is what a time far away or in the past means"
    )]
    let ms = (seconds * 1000.0).ceil() as u64;
    now_ms + Duration::from_millis(ms)
}

fn json(value: &impl Serialize) -> Answer {
    to_raw_value(value)
        .map(Some)
        .map_err(|error| Fault::Refused(error.to_string()))
}
