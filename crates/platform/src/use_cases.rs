//! The use cases: everything that the platform does for a caller or on its own, each a method of [`crate::Platform`].
//!
//! They compose the services below them and own no state.

pub(crate) mod access;
pub(crate) mod accounts;
pub(crate) mod actions;
pub(crate) mod administrator;
pub(crate) mod audit;
pub(crate) mod background;
pub(crate) mod calls;
pub(crate) mod causes;
pub(crate) mod changes;
pub(crate) mod components;
pub(crate) mod computed_props;
pub(crate) mod connects;
pub(crate) mod data_stores;
pub(crate) mod deliveries;
pub(crate) mod delivery_search;
pub(crate) mod email;
pub(crate) mod event_search;
pub(crate) mod event_views;
pub(crate) mod events;
pub(crate) mod feeds;
pub(crate) mod finding;
pub(crate) mod folders;
pub(crate) mod gauges;
pub(crate) mod ingress;
pub(crate) mod keys;
pub(crate) mod mail;
pub(crate) mod names;
pub(crate) mod prop_checks;
pub(crate) mod prop_warnings;
pub(crate) mod registry;
pub(crate) mod run_search;
pub(crate) mod runs;
pub(crate) mod secret_rotation;
pub(crate) mod sessions;
pub(crate) mod source_health;
pub(crate) mod sources;
pub(crate) mod subscriptions;
pub(crate) mod trials;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod variables;
pub(crate) mod webhooks;
pub(crate) mod workflows;
pub(crate) mod workspaces;
