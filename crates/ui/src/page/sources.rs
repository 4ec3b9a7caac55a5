//! `/sources`: all of them, and one with everything about it, each part at an address of its own.

pub(crate) mod code;
mod component;
pub(crate) mod config;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod head;
pub(crate) mod list;
pub(crate) mod logs;
mod no_events;
mod order;
pub(crate) mod refresh;
pub(crate) mod roll_back;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod selected;
pub(crate) mod subscriptions;
pub(crate) mod switch;
pub(crate) mod versions;
