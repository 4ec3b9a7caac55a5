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

use crate::store::SqliteStore;

#[async_trait]
impl Deliveries for SqliteStore {
    async fn claim_deliveries(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: ClaimLimit,
    ) -> Result<ClaimedDeliveries, StoreError> {
        let id = webhook_id.clone();
        self.write(move |connection| claims::claim(connection, id.as_str(), term, now_ms, limit))
            .await
    }

    async fn webhooks_with_work(
        &self,
        now_ms: EpochMs,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let after = after.cloned();
        self.read(move |connection| {
            waiting::webhooks_with_work(connection, now_ms, after.as_ref(), limit)
        })
        .await
    }

    async fn retries_due(
        &self,
        after_ms: EpochMs,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.read(move |connection| waiting::retries_due(connection, after_ms, now_ms, limit))
            .await
    }

    async fn extend_delivery_leases(
        &self,
        leases: &[DeliveryLease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError> {
        let leases = leases.to_vec();
        self.write(move |connection| {
            let mut leases = leases.iter();
            leases.try_for_each(|lease| claims::extend(connection, lease, expires_at_ms))
        })
        .await
    }

    async fn release_delivery_claim(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
    ) -> Result<(), StoreError> {
        let id = webhook_id.clone();
        self.write(move |connection| claims::release_claim(connection, id.as_str(), term))
            .await
    }

    async fn release_deliveries(&self, leases: &[DeliveryLease]) -> Result<(), StoreError> {
        let leases = leases.to_vec();
        self.write(move |connection| {
            let mut leases = leases.iter();
            leases.try_for_each(|lease| claims::release(connection, lease))
        })
        .await
    }

    async fn record_attempts(
        &self,
        webhook_id: &WebhookId,
        attempts: Vec<AttemptRecord>,
        disabled: Option<DisabledWebhook>,
        now_ms: EpochMs,
    ) -> Result<RecordedAttempts, StoreError> {
        let id = webhook_id.clone();
        self.write(move |connection| attempts::record(connection, &id, &attempts, disabled, now_ms))
            .await
    }

    async fn deliveries(
        &self,
        webhook_id: &WebhookId,
        state: Option<DeliveryState>,
        page: &PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, StoreError> {
        let (id, page) = (webhook_id.clone(), page.clone());
        self.read(move |connection| listing::page(connection, id.as_str(), state, &page))
            .await
    }

    async fn webhook_backlogs(&self, ids: &[WebhookId]) -> Result<Vec<WebhookBacklog>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            let backlogs = ids
                .iter()
                .map(|id| waiting::backlog(connection, id.as_str()));
            backlogs.collect()
        })
        .await
    }

    async fn last_attempts(
        &self,
        ids: &[WebhookId],
        among: u32,
    ) -> Result<Vec<Option<Attempt>>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            let last = |id: &WebhookId| listing::last_attempt(connection, id.as_str(), among);
            ids.iter().map(last).collect()
        })
        .await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let id = id.clone();
        self.read(move |connection| listing::by_id(connection, id.as_str()))
            .await
    }

    async fn deliveries_of(
        &self,
        emitter: &EmitterId,
        events: &[EventId],
        limit: u32,
    ) -> Result<Vec<Vec<EventDelivery>>, StoreError> {
        let (emitter, events) = (emitter.clone(), events.to_vec());
        self.read(move |connection| {
            let events = events.into_iter();
            let of_each =
                events.map(|event| listing::of_event(connection, emitter.as_str(), event, limit));
            of_each.collect()
        })
        .await
    }

    async fn retry_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| again::retry(connection, &id, now_ms))
            .await
    }

    async fn discard_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| discard::discard(connection, &id, now_ms))
            .await
    }

    async fn replay(
        &self,
        webhook_id: &WebhookId,
        replay: &Replay,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let (id, replay) = (webhook_id.clone(), *replay);
        self.write(move |connection| again::replay(connection, &id, &replay, limit))
            .await
    }

    async fn trim_deliveries(
        &self,
        keep: u32,
        dead_before_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let has_work = move |connection: &_| trim::has_work(connection, keep, dead_before_ms);
        let step = move |connection: &_| trim::trim(connection, keep, dead_before_ms, limit);
        self.progress_if(has_work, step).await
    }
}

#[async_trait]
impl DeliverySearch for SqliteStore {
    async fn find_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        page: &PageRequest<DeliveryId>,
    ) -> Result<FoundDeliveries, StoreError> {
        let (viewer, filter, page) = (viewer.clone(), filter.clone(), page.clone());
        self.read(move |connection| search::find(connection, &viewer, &filter, &page))
            .await
    }

    async fn count_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        limit: u32,
    ) -> Result<DeliveryCounts, StoreError> {
        let (viewer, filter) = (viewer.clone(), filter.clone());
        self.read(move |connection| search::count(connection, &viewer, &filter, limit))
            .await
    }

    async fn change_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        step: &DeliveryStep,
    ) -> Result<ChangedDeliveries, StoreError> {
        let (viewer, filter, step) = (viewer.clone(), filter.clone(), step.clone());
        let is_dry = step.is_dry;
        let step = move |connection: &_| change::step(connection, &viewer, &filter, &step);
        match is_dry {
            true => self.read(step).await,
            false => self.write(step).await,
        }
    }
}
