//! The store contract on SQLite: the embedded default.
//!
//! One writer thread owns the only writing connection and commits in groups; readers have
//! connections of their own. Durable means `synchronous=FULL` in WAL mode: on disk before the answer.

#![warn(clippy::wildcard_enum_match_arm)]

mod account_rows;
mod accounts;
mod append;
mod audit;
mod auto_subscriptions;
mod backlog;
mod catalog;
mod causes;
mod components;
mod connection;
mod connects;
mod copy;
mod counted_events;
mod data_stores;
mod deletion;
mod deliveries;
mod dispatch;
mod emitters;
mod event_log;
mod event_replay;
mod event_row;
mod event_search;
mod event_views;
mod events;
#[cfg(feature = "faults")]
mod faults;
mod first_user;
mod health;
mod invocation_claims;
mod invocations;
mod key_value;
mod keys;
mod living;
mod migration;
mod names;
mod nodes;
mod ordered;
mod owner;
mod page;
mod queue;
mod queued_events;
mod readers;
mod registry;
mod retention;
mod row;
mod run_commit;
mod run_commits;
mod run_events;
mod run_expiry;
mod run_hours;
mod run_keys;
mod run_places;
mod run_records;
mod run_retention;
mod run_search;
mod runnable_filter;
mod runs;
mod scheduled;
mod sealed;
mod sealed_rows;
mod send_rows;
mod sends;
mod sessions;
mod settle;
mod slugs;
mod source_deployments;
mod source_health;
mod sources;
mod store;
mod subscription_rows;
mod subscriptions;
mod tail;
mod tenants;
mod timers;
mod transfer;
mod upkeep;
mod usage;
mod users;
mod variables;
mod waiting_runs;
mod walk;
mod webhook_health;
mod webhook_rows;
mod webhooks;
mod workflow_rows;
mod workflow_runs;
mod workflow_state;
mod workflows;
mod workspaces;
mod writer;

pub use copy::{check, copy};
#[cfg(feature = "faults")]
pub use faults::Faults;
pub use run_commits::RunCommits;
pub use store::SqliteStore;
pub use transfer::SqliteTables;
