//! The services and limits that couriers share.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use headwater_model::{id::WebhookId, time::EpochMs};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{limits::Limits, retries::Retries, sender::Sender};
use crate::{
    actor::{Resident, Residents},
    chore::Chore,
    core::Core,
    error::PlatformError,
    secrets::SecretKeys,
};

/// The way to a courier.
pub(super) struct Courier {
    pub(super) nudges: mpsc::Sender<()>,
    /// Counts changes of its webhook: if it knows fewer, it reads the webhook again.
    pub(super) changes: Arc<AtomicU64>,
}

impl Resident for Courier {
    fn is_alive(&self) -> bool {
        !self.nudges.is_closed()
    }
}

impl Courier {
    pub(super) fn nudge(&self) {
        // Full: a nudge waits already.
        let _ = self.nudges.try_send(());
    }

    /// Says that its webhook was changed.
    pub(super) fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        self.nudge();
    }
}

/// The services and limits that couriers share.
pub(super) struct CourierContext {
    pub(super) core: Arc<Core>,
    pub(super) secret_keys: Arc<SecretKeys>,
    pub(super) sender: Sender,
    pub(super) limits: Arc<Limits>,
    pub(super) retries: Retries,
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
