//! The kit of actors: a task in memory that owns the work of one thing, found by its id or started.
//!
//! ```text
//!  with ──► Residents (find or start, under one lock) ──► actor: select over commands, InFlight work, Batches, Heartbeat
//!                     ▲                                      │
//!                     └────── remove_if (same lock) ◄────────┘
//! ```
//!
//! Runners and couriers are such actors. Each has its own middle; the parts that all share are here.

mod batches;
mod claims;
mod heartbeat;
mod in_flight;
mod residents;

pub(crate) use self::{
    batches::{Batches, insisted, store_returns},
    claims::Claims,
    heartbeat::{Heartbeat, LeasedUntil},
    in_flight::InFlight,
    residents::{Resident, Residents},
};

/// The reason of a run that somebody cancelled, in its record.
pub(crate) const CANCELLED: &str = "cancelled by request";
