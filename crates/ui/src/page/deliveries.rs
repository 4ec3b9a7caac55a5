//! `/deliveries`: what is on its way to webhooks, arrived, or was given up.

pub(crate) mod attempt;
pub(crate) mod change;
pub(crate) mod event;
pub(crate) mod filter;
pub(crate) mod list;
pub(crate) mod selected;
pub(crate) mod show;
