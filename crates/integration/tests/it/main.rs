//! The tests across crates, against the real binary: `routes/` mirrors the API's paths, `cli/` the
//! command line, `journeys/` is what Headwater is for, from one end to the other.

#![allow(
    clippy::unwrap_used,
    reason = "clippy lets test functions unwrap, and what they share is no different"
)]

mod accounts;
mod assistants;
mod audit;
mod backup;
mod channels;
mod cli;
mod cluster;
mod code;
mod components;
mod configuration;
mod confinement;
mod conformance;
mod coverage;
mod crash;
mod database;
mod dedupe;
mod documents;
mod faults;
mod feeds;
mod full_disk;
mod journeys;
mod logs;
mod misuse;
mod moving;
mod network;
mod operating;
mod pooler;
mod restart;
mod routes;
mod secrets;
mod sends;
mod servers;
mod soak;
mod starting;
mod store_copy;
mod tenants;
mod timers;
mod traces;
mod ui;
mod webhooks;
mod workflows;
