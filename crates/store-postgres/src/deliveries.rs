//! The queue of deliveries behind the trait.

pub(crate) mod again;
mod arms;
mod attempts;
mod change;
mod claims;
mod discard;
mod event;
pub(crate) mod give_up;
pub(crate) mod listing;
mod reading;
mod search;
mod trim;
pub(crate) mod untrimmed;
mod waiting;

use async_trait::async_trait;
use headwater_model::{
    id::{DeliveryId, EmitterId, EventId, WebhookId},
    page::{Page, PageRequest},
    time::EpochMs,
    webhook::DeliveryState,
};
use headwater_store::{
    Attempt, AttemptRecord, ChangedDeliveries, ClaimLimit, ClaimedDeliveries, Deliveries, Delivery,
    DeliveryCounts, DeliveryFilter, DeliveryLease, DeliverySearch, DeliveryStep, DisabledWebhook,
    EventDelivery, FoundDeliveries, LeaseTerm, Progress, RecordedAttempts, Replay, StoreError,
    Viewer, WebhookBacklog,
};

use crate::{connection::Connection, database::Transaction, store::PostgresStore};

#[async_trait]
impl Deliveries for PostgresStore {
    async fn claim_deliveries(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: ClaimLimit,
    ) -> Result<ClaimedDeliveries, StoreError> {
        self.write_locking(|connection| async move {
            claims::claim(&connection, webhook_id.as_str(), term, now_ms, limit).await
        })
        .await
    }

    async fn webhooks_with_work(
        &self,
        now_ms: EpochMs,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.read(|connection| async move {
            waiting::webhooks_with_work(&connection, now_ms, after, limit).await
        })
        .await
    }

    async fn retries_due(
        &self,
        after_ms: EpochMs,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.read(|connection| async move {
            waiting::retries_due(&connection, after_ms, now_ms, limit).await
        })
        .await
    }

    async fn extend_delivery_leases(
        &self,
        leases: &[DeliveryLease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            claims::extend(&connection, leases, expires_at_ms).await
        })
        .await
    }

    async fn release_delivery_claim(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
    ) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            claims::release_claim(&connection, webhook_id.as_str(), term).await
        })
        .await
    }

    async fn release_deliveries(&self, leases: &[DeliveryLease]) -> Result<(), StoreError> {
        self.write_locking(|connection| async move { claims::release(&connection, leases).await })
            .await
    }

    async fn record_attempts(
        &self,
        webhook_id: &WebhookId,
        attempts: Vec<AttemptRecord>,
        disabled: Option<DisabledWebhook>,
        now_ms: EpochMs,
    ) -> Result<RecordedAttempts, StoreError> {
        let (attempts, disabled) = (&attempts, disabled.as_ref());
        let record = |connection| async move {
            attempts::record(&connection, webhook_id, attempts, disabled, now_ms).await
        };
        // Dispatch and retries at the same moment depend on whether the webhook is active.
        match disabled {
            Some(_) => self.append(record).await,
            None => self.write_locking(record).await,
        }
    }

    async fn deliveries(
        &self,
        webhook_id: &WebhookId,
        state: Option<DeliveryState>,
        page: &PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, StoreError> {
        self.read(|connection| async move {
            listing::page(&connection, webhook_id.as_str(), state, page).await
        })
        .await
    }

    async fn webhook_backlogs(&self, ids: &[WebhookId]) -> Result<Vec<WebhookBacklog>, StoreError> {
        self.read(|connection| async move {
            let mut backlogs = Vec::with_capacity(ids.len());
            for id in ids {
                backlogs.push(waiting::backlog(&connection, id.as_str()).await?);
            }
            Ok(backlogs)
        })
        .await
    }

    async fn last_attempts(
        &self,
        ids: &[WebhookId],
        among: u32,
    ) -> Result<Vec<Option<Attempt>>, StoreError> {
        self.read(|connection| async move {
            let mut last = Vec::with_capacity(ids.len());
            for id in ids {
                last.push(listing::last_attempt(&connection, id.as_str(), among).await?);
            }
            Ok(last)
        })
        .await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        self.read(|connection| async move { listing::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn deliveries_of(
        &self,
        emitter: &EmitterId,
        events: &[EventId],
        limit: u32,
    ) -> Result<Vec<Vec<EventDelivery>>, StoreError> {
        self.read(|connection| async move {
            let mut of_each = Vec::with_capacity(events.len());
            for event in events {
                let of_event = listing::of_event(&connection, emitter.as_str(), *event, limit);
                of_each.push(of_event.await?);
            }
            Ok(of_each)
        })
        .await
    }

    async fn retry_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<(), StoreError> {
        self.write(|connection| async move { again::retry(&connection, id, now_ms).await })
            .await
    }

    async fn discard_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<bool, StoreError> {
        self.write(|connection| async move { discard::discard(&connection, id, now_ms).await })
            .await
    }

    async fn replay(
        &self,
        webhook_id: &WebhookId,
        replay: &Replay,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.write(|connection| async move {
            again::replay(&connection, webhook_id, replay, limit).await
        })
        .await
    }

    async fn trim_deliveries(
        &self,
        keep: u32,
        dead_before_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let has_work = |connection: Connection| async move {
            trim::has_work(&connection, keep, dead_before_ms).await
        };
        let step = |connection: Connection| async move {
            trim::trim(&connection, keep, dead_before_ms, limit).await
        };
        self.progress_if(Transaction::Writing, has_work, step).await
    }
}

#[async_trait]
impl DeliverySearch for PostgresStore {
    async fn find_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        page: &PageRequest<DeliveryId>,
    ) -> Result<FoundDeliveries, StoreError> {
        self.read(|connection| async move { search::find(&connection, viewer, filter, page).await })
            .await
    }

    async fn count_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        limit: u32,
    ) -> Result<DeliveryCounts, StoreError> {
        self.read(
            |connection| async move { search::count(&connection, viewer, filter, limit).await },
        )
        .await
    }

    async fn change_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        step: &DeliveryStep,
    ) -> Result<ChangedDeliveries, StoreError> {
        let is_dry = step.is_dry;
        let step = |connection: Connection| async move {
            change::step(&connection, viewer, filter, step).await
        };
        match is_dry {
            true => self.read(step).await,
            false => self.write(step).await,
        }
    }
}
