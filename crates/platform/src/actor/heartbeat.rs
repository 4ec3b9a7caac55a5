//! The rhythm in which an actor prolongs its leases, and until when they are.

use std::time::Duration;

use headwater_model::time::EpochMs;
use headwater_store::{Lease, StoreError};
use tokio::time::{Interval, interval};

use crate::{core::Core, environment::Environment};

/// A third of a lease.
const PERIOD: Duration = Duration::from_secs(20);

/// The rest of a lease at which it is overdue: every beat leaves more.
const OVERDUE: Duration = Duration::from_secs(20);

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

/// The earliest end of the leases of an actor's invocations.
pub(crate) struct LeasedUntil(EpochMs);

impl LeasedUntil {
    /// The end of leases that begin now.
    pub(crate) fn new(core: &Core) -> Self {
        Self(core.lease_term().expires_at_ms)
    }

    /// Whether some leases may have run out, because beats of the heartbeat have failed or come late.
    pub(crate) fn is_overdue(&self, env: &Environment) -> bool {
        env.now_ms() + OVERDUE >= self.0
    }

    /// Prolongs the leases, which are all that the actor has.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn prolong(
        &mut self,
        core: &Core,
        leases: &[Lease],
    ) -> Result<(), StoreError> {
        self.0 = core.prolong(leases).await?;
        Ok(())
    }
}
