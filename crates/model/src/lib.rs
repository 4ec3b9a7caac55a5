//! The nouns of the platform and the pure rules over them.
//!
//! Responsible for: ids, the catalog of apps, the description of a component, props, dedupe, schedules, channels,
//! events, subscriptions, webhooks, outcomes and limits. Deliberately without I/O, async and a clock:
//! time and randomness come in as arguments.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod app;
pub mod channel;
pub mod component;
pub mod data_store;
pub mod dedupe;
pub mod duration;
pub mod endpoint;
pub mod error;
pub mod event;
pub mod event_search;
pub mod hash;
pub mod id;
pub mod limits;
pub mod moment;
pub mod origin;
pub mod outcome;
pub mod package;
pub mod page;
pub mod prop;
pub mod sandbox_layer;
pub mod schedule;
pub mod shell;
pub mod subscription;
pub mod time;
pub mod trace;
pub mod version;
pub mod webhook;
