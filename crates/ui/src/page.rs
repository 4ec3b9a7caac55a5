//! The pages, one file per address: parse, one or a few use cases, markup.

pub(crate) mod accounts;
mod configured;
pub(crate) mod data;
pub(crate) mod deliveries;
pub(crate) mod deploy;
pub(crate) mod events;
pub(crate) mod guide;
pub(crate) mod home;
pub(crate) mod live;
pub(crate) mod masking;
pub(crate) mod missing;
mod picker;
mod prefilled;
mod reduced;
pub(crate) mod runs;
pub(crate) mod search;
mod selected;
pub(crate) mod settings;
pub(crate) mod signin;
pub(crate) mod sources;
mod subscribing;
pub(crate) mod webhooks;
pub(crate) mod workflows;
