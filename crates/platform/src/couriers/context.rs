//! The services and limits that couriers share.

use std::sync::Arc;

use headwater_model::{id::WebhookId, time::EpochMs};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{limits::Limits, retries::Retries, sender::Sender, signals::Courier};
use crate::{
    actor::Residents, chore::Chore, core::Core, error::PlatformError, secrets::SecretKeys,
};

/// Claims in flight: still many to a transaction of the store.
const CLAIMS_AT_ONCE: usize = 256;

/// The services and limits that couriers share.
pub(super) struct CourierContext {
    pub(super) core: Arc<Core>,
    pub(super) secret_keys: Arc<SecretKeys>,
    pub(super) sender: Sender,
    pub(super) limits: Arc<Limits>,
    pub(super) retries: Retries,
    /// The right to claim, in turn: beyond these, couriers wait where they take the least room.
    pub(super) claims: Semaphore,
    pub(super) residents: Residents<WebhookId, Courier>,
    pub(super) tasks: TaskTracker,
    /// Cancelled when attempts in flight are waited for no longer.
    pub(super) abandoned: CancellationToken,
}

impl CourierContext {
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(super) fn new(
        core: Arc<Core>,
        secret_keys: Arc<SecretKeys>,
    ) -> Result<Self, PlatformError> {
        let config = &core.config.deliveries;
        let limits = Limits::new(config.node_concurrency, config.host_concurrency);
        Ok(Self {
            sender: Sender::new(config)?,
            limits: Arc::new(limits),
            retries: Retries::default(),
            claims: Semaphore::new(CLAIMS_AT_ONCE),
            residents: Residents::default(),
            tasks: TaskTracker::new(),
            abandoned: CancellationToken::new(),
            secret_keys,
            core,
        })
    }

    /// Notes a retry that has been recorded. True: it is due already, and nobody will be woken for it.
    pub(super) fn note_retry(&self, due_ms: EpochMs) -> bool {
        let is_due = due_ms <= self.core.env.now_ms();
        if !is_due && self.retries.is_earlier(due_ms) {
            self.core.nudges.nudge(Chore::Retries);
        }
        is_due
    }
}
