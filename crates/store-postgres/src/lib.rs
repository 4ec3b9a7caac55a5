//! The store contract on PostgreSQL 15 or later, which any number of nodes share.
//!
//! A step is one transaction on a pooled connection. Steps that write are serializable: one that another overtakes is
//! run again as a whole, so that a step reads as if it were alone. What an error leaves is rolled back. Positions of
//! the log become visible in their order, because appending holds a lock until its transaction ends.
//!
//! Files of owners are here too ([`files`]), which the embedded store leaves to a folder. Each other file is the twin of the one with its name in `headwater-store-sqlite`: the same functions in the same order.
//! Statements are prepared once per connection; numbers are `bigint` ([`row`] converts them), JSON that comes back byte
//! for byte is `text`, lists are passed as arrays, and text compares by its bytes.

#![warn(clippy::wildcard_enum_match_arm)]

mod account_rows;
mod accounts;
mod append;
mod audit;
mod auto_subscriptions;
mod backlog;
mod catalog;
mod causes;
mod claim_turn;
mod clock;
mod components;
mod connection;
mod connects;
mod counted_events;
mod data_stores;
mod database;
mod deletion;
mod deliveries;
mod dispatch;
mod emitters;
mod enqueue;
mod event_log;
mod event_replay;
mod event_row;
mod event_search;
mod event_views;
mod events;
mod files;
mod first_user;
mod group;
mod grouped;
mod hosts;
mod invocations;
mod key_value;
mod key_writes;
mod keys;
mod living;
mod marks;
mod members;
mod migration;
mod names;
mod nodes;
mod ordered;
mod outcome;
mod owner;
mod page;
mod pooling;
mod positions;
mod queue;
mod queued_events;
mod registry;
mod retention;
mod row;
mod run_commit;
mod run_events;
mod run_expiry;
mod run_hours;
mod run_keys;
mod run_places;
mod run_progress;
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
mod server;
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
mod text;
mod timers;
mod tls;
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

pub use clock::DatabaseClock;
pub use files::PostgresFiles;
pub use members::{Joined, Joining, Leader};
pub use store::PostgresStore;
pub use transfer::PostgresTables;
