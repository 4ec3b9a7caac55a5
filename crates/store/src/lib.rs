//! The platform's storage contract: the records, the traits with their rules, and the conformance suite that every
//! store passes.
//!
//! Rules of every method: it is one atomic step; no transaction crosses the trait; time comes in
//! as an argument; every listing is paged and every batch bounded. "Not found" is `Option`.
//! A method that returns `Ok` is durable: it survives the loss of power.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod account;
pub mod audit;
pub mod catalog;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod data_stores;
pub mod delivery_search;
pub mod derived_id;
pub mod error;
pub mod event_log;
pub mod event_replay;
pub mod event_search;
pub mod event_views;
pub mod file_path;
pub mod file_storage;
pub mod folders;
pub mod key_value;
pub mod lease;
pub mod list_place;
pub mod members;
pub mod names;
pub mod new_invocation;
pub mod nodes;
pub mod progress;
pub mod registry;
pub mod run_commit;
pub mod run_facts;
pub mod run_search;
pub mod runnable_filter;
pub mod runs;
pub mod sealed;
pub mod sends;
pub mod sessions;
pub mod source_deployments;
pub mod source_health;
pub mod sources;
pub mod subscriptions;
pub mod tenants;
pub mod transfer;
pub mod trigger;
pub mod upkeep;
pub mod variables;
pub mod webhook_health;
pub mod webhooks;
pub mod work_queue;
pub mod workflow_runs;
pub mod workflows;

pub use account::*;
pub use audit::*;
pub use catalog::*;
pub use data_stores::*;
pub use delivery_search::*;
pub use error::{Conflict, Entity, InUse, Last, StoreError, Taken};
pub use event_log::*;
pub use event_replay::*;
pub use event_search::*;
pub use event_views::*;
pub use file_path::{FilePath, InvalidFilePath};
pub use file_storage::*;
pub use folders::*;
pub use key_value::KeyValue;
pub use lease::*;
pub use list_place::*;
pub use members::*;
pub use names::*;
pub use new_invocation::NewInvocation;
pub use nodes::*;
pub use progress::Progress;
pub use registry::*;
pub use run_commit::*;
pub use run_facts::*;
pub use run_search::*;
pub use runnable_filter::*;
pub use runs::*;
pub use sealed::*;
pub use sends::*;
pub use sessions::*;
pub use source_deployments::*;
pub use source_health::*;
pub use sources::*;
pub use subscriptions::*;
pub use tenants::*;
pub use trigger::*;
pub use upkeep::Upkeep;
pub use variables::*;
pub use webhook_health::*;
pub use webhooks::*;
pub use work_queue::*;
pub use workflow_runs::*;
pub use workflows::*;

/// A complete store. Blanket-implemented for every type with all the parts.
pub trait Store:
    Nodes
    + Tenants
    + Sessions
    + Catalog
    + SourceDeployments
    + Registry
    + Folders
    + Subscriptions
    + Accounts
    + SealedRecords
    + Webhooks
    + Deliveries
    + DeliverySearch
    + EventLog
    + EventReplays
    + EventSearches
    + EventViews
    + KeyValue
    + DataStores
    + WorkQueue
    + Runs
    + RunSearch
    + SourcesHealth
    + WebhooksHealth
    + Names
    + Workflows
    + WorkflowRuns
    + Sends
    + Variables
    + Audit
    + Upkeep
    + Send
    + Sync
    + 'static
{
}

impl<T> Store for T where
    T: Nodes
        + Tenants
        + Sessions
        + Catalog
        + SourceDeployments
        + Registry
        + Folders
        + Subscriptions
        + Accounts
        + SealedRecords
        + Webhooks
        + Deliveries
        + DeliverySearch
        + EventLog
        + EventReplays
        + EventSearches
        + EventViews
        + KeyValue
        + DataStores
        + WorkQueue
        + Runs
        + RunSearch
        + SourcesHealth
        + WebhooksHealth
        + Names
        + Workflows
        + WorkflowRuns
        + Sends
        + Variables
        + Audit
        + Upkeep
        + Send
        + Sync
        + 'static
{
}
