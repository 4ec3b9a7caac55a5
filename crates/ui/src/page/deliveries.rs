//! `/deliveries`: what is on its way to webhooks, arrived, or was given up.

pub(crate) mod show;
