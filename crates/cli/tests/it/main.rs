//! The client commands as a person meets them: the real binary against a node whose answers the
//! test sets. How a real node answers is tested where the API is.

#![allow(
    clippy::unwrap_used,
    reason = "clippy lets test functions unwrap, and what they share is no different"
)]

mod audit;
mod deploy;
mod doctor;
mod events;
mod login;
mod node;
mod props;
mod publish;
mod runs;
mod sources;
mod tenants;
mod variables;
mod webhooks;
mod workflow_import;
mod workflow_runs;
mod workflows;
