//! Fixtures of the tests: ids, records and short ways to read a store.
//!
//! Each test sets its own time; ids count up, so that later ones sort later.

mod events;
mod moments;
mod runs;
mod sources;
mod steps;
mod store;
mod subscriptions;
mod tenants;
mod webhooks;
mod workflows;

pub(super) use {
    events::*, moments::*, runs::*, sources::*, steps::*, store::*, subscriptions::*, tenants::*,
    webhooks::*, workflows::*,
};
