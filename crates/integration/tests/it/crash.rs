//! Killing a node at random moments, and what has to hold when it is started again.
//!
//! Moments follow from a seed, which is printed when a test fails; `HEADWATER_TEST_SEED` repeats it.
//! Moments are the n-th answer, or a place that a run has reached, never a time.

mod clients;
mod counted;
mod deliveries;
mod lifecycle;
mod load;
mod poisoned;
pub(crate) mod seed;
mod stopping;
mod subscriptions;
mod timers;
mod workers;
mod workflows;
