//! What the tests build their stories from: ids, records and short ways to read a store.
//!
//! Time is whatever a test says; ids count up, so that what is made later sorts later.

mod events;
mod moments;
mod runs;
mod sources;
mod steps;
mod store;
mod subscriptions;
mod tenants;
mod webhooks;

pub(super) use {
    events::*, moments::*, runs::*, sources::*, steps::*, store::*, subscriptions::*, tenants::*,
    webhooks::*,
};
