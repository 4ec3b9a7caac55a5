//! The store contract on PostgreSQL 15 or later, which any number of nodes share.
//!
//! A step is one transaction on a pooled connection. Steps that write are serializable: one that another overtakes is
//! run again as a whole, so that a step reads as if it were alone. What an error leaves is rolled back. Positions of
//! the log become visible in their order, because appending holds a lock until its transaction ends.
//!
//! Each file is the twin of the one with its name in `headwater-store-sqlite`: the same functions in the same order.
//! Statements are prepared once per connection; numbers are `bigint` ([`row`] converts them), JSON that comes back byte
//! for byte is `text`, lists are passed as arrays, and text compares by its bytes.

#![warn(clippy::wildcard_enum_match_arm)]

mod account_rows;
mod accounts;
mod audit;
mod components;
mod connection;
mod connects;
mod counted_events;
mod data_stores;
mod emitters;
mod first_user;
mod keys;
mod living;
mod migration;
mod missing;
mod nodes;
mod owner;
mod page;
mod positions;
mod registry;
mod row;
mod run_hours;
mod sealed;
mod sealed_rows;
mod send_rows;
mod sends;
mod sessions;
mod slugs;
mod store;
mod tenants;
mod upkeep;
mod usage;
mod users;
mod variables;
mod walk;
mod workflow_rows;
mod workflow_runs;
mod workflow_state;
mod workflows;
mod workspaces;

pub use store::PostgresStore;
