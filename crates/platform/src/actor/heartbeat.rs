//! The rhythm in which an actor prolongs its leases.

use std::time::Duration;

use tokio::time::{Interval, interval};

use crate::environment::Environment;

/// A third of a lease.
const PERIOD: Duration = Duration::from_secs(20);

/// The rest of a lease at which it is overdue: every beat leaves more.
pub(crate) const OVERDUE: Duration = Duration::from_secs(20);

/// A heartbeat; the first beat is at once.
pub(crate) struct Heartbeat(Interval);

impl Heartbeat {
    /// A heartbeat by the node's clock.
    pub(crate) fn new(env: &Environment) -> Self {
        Self(interval(env.lasting(PERIOD)))
    }

    /// Waits for the next beat.
    pub(crate) async fn beat(&mut self) {
        self.0.tick().await;
    }
}
