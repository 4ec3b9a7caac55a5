//! Running components: what a run says, what it may use, what it may touch, and how workers live.

mod lifecycle;
mod limits;
mod messages;
mod sandbox;
mod shared;
mod sharing;
mod speed;
mod tenants;
mod warm;
