//! Deliveries: POSTing events to the webhooks that subscribe.
//!
//! One **courier** per webhook with due deliveries, in memory only while it has some. It is found or
//! started under the registry's lock and leaves under the same lock, so that no nudge goes to a
//! courier that is gone. Responsible for attempts, their limits and their outcome; not for making
//! deliveries (dispatch does) or for managing webhooks.
//!
//! ```text
//!  dispatch ──┐                       ┌─► attempt ─┐
//!  due again ─┴─► courier ──► claim ──┼─► attempt ─┼─► record (batches) ──► delivered, due again, dead
//!                                     └─► attempt ─┘
//! ```

mod actor;
mod attempt;
mod claim;
mod held;
mod limits;
mod queue;
mod records;
mod request;
mod retries;
mod sender;
pub(crate) mod signature;
mod target;
mod verdict;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use headwater_engine::network::{CaCertificates, NetworkPolicy};
use headwater_model::{
    id::WebhookId,
    webhook::{ATTEMPT_TIMEOUT, Backoff},
};
use headwater_store::{Progress, StoreError};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{actor::Actor, limits::Limits, retries::Retries, sender::Sender};
use crate::{background::Chore, error::PlatformError, platform::Platform};

/// Delivered deliveries that are kept per webhook.
const DELIVERED_KEPT: u32 = 100;
/// How long dead letters are kept.
const DEAD_KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// How long deliveries may take to be given back when the node stops.
const GIVING_BACK_MAX: Duration = Duration::from_secs(2);

/// How deliveries are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryConfig {
    /// How long to wait after each failed attempt.
    pub backoff: Backoff,
    /// How long an attempt may take.
    pub attempt_timeout: Duration,
    /// Attempts in flight per webhook.
    pub webhook_concurrency: usize,
    /// Attempts in flight per host.
    pub host_concurrency: usize,
    /// Attempts in flight on the whole node.
    pub node_concurrency: usize,
    /// Which addresses may be reached.
    pub network: NetworkPolicy,
    /// Whose certificates are trusted besides those of the web's authorities.
    pub ca: Option<CaCertificates>,
}

impl Default for DeliveryConfig {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            attempt_timeout: ATTEMPT_TIMEOUT,
            webhook_concurrency: 8,
            host_concurrency: 64,
            node_concurrency: 2048,
            network: NetworkPolicy::default(),
            ca: None,
        }
    }
}

/// How a courier is reached.
struct Courier {
    nudges: mpsc::Sender<()>,
    /// Counts changes of its webhook: if it knows fewer, it reads the webhook again.
    changes: Arc<AtomicU64>,
}

/// The couriers of this node, and what they share.
pub(crate) struct Couriers {
    by_webhook: Mutex<HashMap<WebhookId, Courier>>,
    sender: Sender,
    limits: Arc<Limits>,
    retries: Retries,
    tasks: TaskTracker,
    /// Cancelled when attempts in flight are waited for no longer.
    abandoned: CancellationToken,
}

impl Couriers {
    /// None yet.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn new(config: &DeliveryConfig) -> Result<Self, PlatformError> {
        let sender = Sender::new(config)?;
        let limits = Limits::new(config.node_concurrency, config.host_concurrency);
        Ok(Self {
            by_webhook: Mutex::default(),
            sender,
            limits: Arc::new(limits),
            retries: Retries::default(),
            tasks: TaskTracker::new(),
            abandoned: CancellationToken::new(),
        })
    }

    /// How many webhooks have a courier.
    pub(crate) fn len(&self) -> usize {
        self.by_webhook.lock().len()
    }

    /// Waits until no courier is left, once the node is stopping.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Abandons attempts in flight, and waits until their deliveries have been given back.
    pub(crate) async fn abandon(&self) {
        self.abandoned.cancel();
        let ended = tokio::time::timeout(GIVING_BACK_MAX, self.ended());
        if ended.await.is_err() {
            tracing::warn!("deliveries could not be given back; their leases run out");
        }
    }

    /// How many attempts are in flight.
    pub(crate) fn attempts_in_flight(&self) -> usize {
        self.limits.in_flight()
    }

    /// Takes the courier out unless a nudge has come in meanwhile that it would still obey.
    fn leave(&self, id: &WebhookId, nudges: &mpsc::Receiver<()>, stopping: bool) -> bool {
        let mut by_webhook = self.by_webhook.lock();
        let leaves = stopping || nudges.is_empty();
        if leaves {
            by_webhook.remove(id);
        }
        leaves
    }
}

impl Platform {
    /// Says that deliveries may have become due.
    pub fn nudge_deliveries(&self) {
        self.nudges.nudge(Chore::Deliveries);
    }

    /// Says that a webhook was changed: what is attempted from now on goes by that.
    pub fn webhook_changed(&self, id: &WebhookId) {
        let by_webhook = self.couriers.by_webhook.lock();
        if let Some(courier) = by_webhook.get(id) {
            courier.changes.fetch_add(1, Ordering::Release);
            // Full: a nudge waits already.
            let _ = courier.nudges.try_send(());
        }
    }

    /// Says that there are deliveries to the webhook, starting its courier if there is none.
    pub(crate) fn wake_courier(self: &Arc<Self>, id: &WebhookId) {
        if self.stopping.is_cancelled() {
            return;
        }
        let mut by_webhook = self.couriers.by_webhook.lock();
        if let Some(courier) = by_webhook.get(id)
            && !courier.nudges.is_closed()
        {
            // Full: a nudge waits already.
            let _ = courier.nudges.try_send(());
            return;
        }
        let (sender, nudges) = mpsc::channel(1);
        let changes = Arc::new(AtomicU64::new(0));
        let courier = Courier {
            nudges: sender,
            changes: Arc::clone(&changes),
        };
        by_webhook.insert(id.clone(), courier);
        let courier = Actor::new(Arc::clone(self), id.clone(), nudges, changes);
        self.couriers.tasks.spawn(courier.run());
    }

    /// Deletes deliveries that are kept no longer.
    pub(crate) async fn trim_deliveries(&self, batch: u32) -> Result<Progress, StoreError> {
        let dead_before_ms = self.env.now_ms().saturating_sub(DEAD_KEPT_MS);
        let store = &self.store;
        store
            .trim_deliveries(DELIVERED_KEPT, dead_before_ms, batch)
            .await
    }
}
