//! What the platform asks of storage: the records, the traits with their contract, and the one
//! conformance suite that every store passes.
//!
//! Rules of every method: it is one atomic step; no transaction crosses the trait; time comes in
//! as an argument; every listing is paged and every batch bounded. "Not found" is `Option`.
//! A method that returns `Ok` is durable: it survives the loss of power.

pub mod account;
pub mod catalog;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod data_stores;
pub mod error;
pub mod event_log;
pub mod record;
pub mod registry;
pub mod sealed;
pub mod tenants;
pub mod upkeep;
pub mod webhooks;
pub mod work_queue;

pub use account::*;
pub use catalog::{Catalog, Subscriptions};
pub use data_stores::{
    DataStore, DataStoreRef, DataStores, NewRecord, Record, RecordRange, RecordWritten,
};
pub use error::StoreError;
pub use event_log::{Appended, EventLog, KeyValue, LogPosition, QUEUED_EVENT_BYTES, Tail};
pub use record::*;
pub use registry::{ComponentFilter, ListedComponent, Publication, Published, Registry};
pub use sealed::{Resealed, SealedRecord, SealedRecords};
pub use tenants::Tenants;
pub use upkeep::Upkeep;
pub use webhooks::*;
pub use work_queue::{WorkLimit, WorkQueue};

/// A whole store. Blanket-implemented for whatever has all the parts.
pub trait Store:
    Tenants
    + Catalog
    + Registry
    + Subscriptions
    + Accounts
    + SealedRecords
    + Webhooks
    + Deliveries
    + EventLog
    + KeyValue
    + DataStores
    + WorkQueue
    + Upkeep
    + Send
    + Sync
    + 'static
{
}

impl<T> Store for T where
    T: Tenants
        + Catalog
        + Registry
        + Subscriptions
        + Accounts
        + SealedRecords
        + Webhooks
        + Deliveries
        + EventLog
        + KeyValue
        + DataStores
        + WorkQueue
        + Upkeep
        + Send
        + Sync
        + 'static
{
}
