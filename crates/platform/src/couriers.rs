//! Deliveries: POSTing events to the webhooks that subscribe.
//!
//! One **courier** per webhook with due deliveries, in memory only while it has some. It is found or
//! started under the registry's lock and leaves under the same lock, so that no nudge goes to a courier
//! that is gone. Responsible for attempts, their limits and their outcome; not for creating deliveries
//! (dispatch does) or for managing webhooks.
//!
//! ```text
//!  dispatch ──┐                       ┌─► attempt ─┐
//!  due again ─┴─► courier ──► claim ──┼─► attempt ─┼─► record (batches) ──► delivered, due again, dead
//!                                     └─► attempt ─┘
//! ```

mod actor;
mod attempt;
mod claim;
mod context;
mod headers;
mod held;
mod limits;
mod once;
mod queue;
mod records;
mod request;
mod retries;
mod sample;
mod sender;
mod signals;
pub(crate) mod signature;
mod target;
mod verdict;

use std::{sync::Arc, time::Duration};

use headwater_model::{
    event::{Event, EventRef},
    id::WebhookId,
};
use headwater_store::{Attempt, Progress, StoreError, Webhook};
use url::Url;

use self::{
    actor::Actor,
    context::CourierContext,
    signals::{Courier, Signals},
};
pub use self::{
    request::{ForwardedEvent, WebhookRequest},
    sample::SentSample,
    signature::{Signer, new_secret},
};
use crate::{core::Core, error::PlatformError, secrets::SecretKeys};

/// Delivered deliveries that are kept per webhook.
pub(crate) const DELIVERED_KEPT: u32 = 100;
/// The time that dead letters are kept.
const DEAD_KEPT: Duration = Duration::from_hours(30 * 24);
/// The time to give deliveries back when the node stops.
const GIVING_BACK_MAX: Duration = Duration::from_secs(2);

/// The couriers of this node.
pub(crate) struct Couriers {
    context: Arc<CourierContext>,
}

impl Couriers {
    /// None yet.
    ///
    /// # Errors
    /// The TLS stack cannot be set up.
    pub(crate) fn new(
        core: Arc<Core>,
        secret_keys: Arc<SecretKeys>,
    ) -> Result<Self, PlatformError> {
        let context = Arc::new(CourierContext::new(core, secret_keys)?);
        Ok(Self { context })
    }

    /// The number of webhooks with a courier.
    pub(crate) fn len(&self) -> usize {
        self.context.residents.len()
    }

    /// The number of attempts in flight.
    pub(crate) fn attempts_in_flight(&self) -> usize {
        self.context.limits.in_flight()
    }

    /// Waits until no courier is left, once the node is stopping.
    pub(crate) async fn ended(&self) {
        self.context.tasks.close();
        self.context.tasks.wait().await;
    }

    /// Abandons attempts in flight, and waits until their deliveries have been given back.
    pub(crate) async fn abandon(&self) {
        self.context.abandoned.cancel();
        let ended = tokio::time::timeout(GIVING_BACK_MAX, self.ended());
        if ended.await.is_err() {
            tracing::warn!("cannot give deliveries back; their leases will expire");
        }
    }

    /// Reports that a webhook was changed: later attempts use the new record.
    pub(crate) fn webhook_changed(&self, id: &WebhookId) {
        self.context.residents.find(id, Courier::note_change);
    }

    /// Nudges the webhook's courier to look for deliveries, starting one if there is none.
    pub(crate) fn wake(&self, id: &WebhookId) {
        if self.context.core.stopping.is_cancelled() {
            return;
        }
        let start = || {
            let signals = Arc::<Signals>::default();
            let courier = Courier::new(&signals);
            let actor = Actor::new(Arc::clone(&self.context), id.clone(), signals);
            self.context.tasks.spawn(Box::new(actor).run());
            courier
        };
        self.context.residents.with(id, start, Courier::nudge);
    }

    /// Sends a sample, signed as deliveries are, and waits for the answer.
    ///
    /// # Errors
    /// `Conflict` while as many attempts as the host or the node may have are in flight.
    pub(crate) async fn send_sample(&self, webhook: Webhook) -> Result<SentSample, PlatformError> {
        sample::send(&self.context, webhook).await
    }

    /// Posts an event to an address once, unsigned, and waits for the answer.
    ///
    /// # Errors
    /// `Conflict` while as many attempts as the host or the node may have are in flight.
    pub(crate) async fn send_once(
        &self,
        of: &EventRef,
        event: &Event,
        url: Url,
    ) -> Result<Attempt, PlatformError> {
        once::send(&self.context, of, event, url).await
    }

    /// Deletes deliveries that are kept no longer.
    pub(crate) async fn trim_deliveries(&self, batch: u32) -> Result<Progress, StoreError> {
        let core = &self.context.core;
        let dead_before_ms = core.env.now_ms().minus(DEAD_KEPT);
        let trimmed = core
            .store
            .trim_deliveries(DELIVERED_KEPT, dead_before_ms, batch);
        trimmed.await
    }

    /// Waits behind the couriers that wait to claim: those that are woken faster than they claim only take room.
    pub(crate) async fn wait_behind_claims(&self) {
        // Permits are given in turn.
        drop(self.context.claims.acquire().await);
    }

    /// One look for retries that have become due.
    pub(crate) async fn look_for_retries(&self, batch: u32) -> Result<Progress, StoreError> {
        let core = &self.context.core;
        let retries = &self.context.retries;
        retries.look(&*core.store, core.env.now_ms(), batch).await
    }
}
