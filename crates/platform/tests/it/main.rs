//! Use cases on the real store in memory, with a scripted engine and a clock that stands still.
//! Nothing sleeps: a test awaits what a use case returns, or the next run that the engine is given.

#![allow(
    clippy::unwrap_used,
    reason = "a test's failure is a panic, in its helpers too"
)]

mod accounts;
mod actions;
mod audit;
mod background;
mod cancelling;
mod commits;
mod component;
mod computed_props;
mod custom_response;
mod data_stores;
mod deliveries;
mod delivery_failures;
mod delivery_limits;
mod deploy;
mod deployments;
mod dispatch;
mod engine;
mod expressions;
mod feeds;
mod files;
mod ingress;
mod leases;
mod lifecycle;
mod lost_workers;
mod metrics;
mod props;
mod quotas;
mod receiver;
mod recovery;
mod registry;
mod runs;
mod scheduled;
mod stop;
mod subscriptions;
mod tenants;
mod timers;
mod traces;
mod update;
mod users;
mod webhooks;
mod workflows;
mod world;
