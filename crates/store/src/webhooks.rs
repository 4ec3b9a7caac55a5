//! Webhooks and the deliveries to them.
//!
//! ```text
//!  dispatch ──► pending ──► leased ──► attempt ──► delivered
//!                  ▲                      │
//!                  └──── backoff ◄────────┼──► dead ──► pending (retried by hand)
//! ```
//! The event's data is kept once, however many deliveries it has, and as long as one of them is there.

use async_trait::async_trait;
use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::{DeliveryId, EmitterId, EventId, SubscriptionId, WebhookId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
    trace::TraceParent,
    webhook::{DeliveryOrder, DeliveryState},
};
use serde_json::value::RawValue;

use crate::{
    error::StoreError,
    lease::{LeaseTerm, NodeEpoch},
    progress::Progress,
    sealed::Sealed,
    tenants::Owner,
};

/// A webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The owner.
    pub owner: Owner,
    /// For people.
    pub name: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// Where events are POSTed to.
    pub url: String,
    /// Whether it receives events. Events dispatched while it is inactive are skipped.
    pub active: bool,
    /// In which order it gets an emitter's events.
    pub ordering: DeliveryOrder,
    /// Why the platform deactivated it, if it did.
    pub disabled_reason: Option<String>,
    /// The sealed secret that deliveries are signed with.
    pub secret: Sealed,
    /// The one before, as long as it is valid too.
    pub former_secret: Option<FormerSecret>,
    /// Since when every attempt has failed, epoch milliseconds. Moved on by [`Deliveries::record_attempts`] only.
    pub failing_since_ms: Option<EpochMs>,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// A secret that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerSecret {
    /// Sealed.
    pub sealed: Sealed,
    /// Epoch milliseconds.
    pub valid_until_ms: EpochMs,
}

/// A change of a webhook. A field that is `None` stays as it is, whoever changed it meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookChange {
    /// Another name, or none any more.
    pub name: Option<Option<String>>,
    /// Another description, or none any more.
    pub description: Option<Option<String>>,
    /// Another address.
    pub url: Option<String>,
    /// Whether events are delivered.
    pub active: Option<bool>,
    /// Another order.
    pub ordering: Option<DeliveryOrder>,
    /// Other secrets.
    pub secrets: Option<WebhookSecrets>,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// The secrets that deliveries are signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSecrets {
    /// Sealed.
    pub current: Sealed,
    /// The one before, if it is to stay valid.
    pub former: Option<FormerSecret>,
}

/// How far a webhook is behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookBacklog {
    /// Deliveries that it has not taken yet, counted up to `limits::PENDING_DELIVERIES_COUNTED_MAX`.
    pub pending: u64,
    /// Since when the oldest of them waits, epoch milliseconds: since it was dispatched, or retried by hand.
    pub oldest_at_ms: Option<EpochMs>,
}

/// How much one claim may lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimLimit {
    /// Deliveries in all.
    pub deliveries: u32,
    /// Those among them that were attempted before.
    pub retries: u32,
    /// Bytes of event data. The delivery that reaches it is the last, so that the largest event can be claimed.
    pub bytes: u64,
}

/// The right to attempt one delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLease {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// The holder.
    pub epoch: NodeEpoch,
    /// Fences: counts how often the delivery was leased, from 1.
    pub number: u32,
}

/// The event of a delivery.
#[derive(Debug, Clone)]
pub struct DeliveredEvent {
    /// The emitter.
    pub emitter: EmitterId,
    /// Its id in the emitter's log, from which it may be gone by now.
    pub id: EventId,
    /// Its channel.
    pub channel: Channel,
    /// The emitted data as JSON text.
    pub event: Box<RawValue>,
    /// The span that emitted it.
    pub trace: Option<TraceParent>,
}

/// A delivery with the right to attempt it.
#[derive(Debug, Clone)]
pub struct ClaimedDelivery {
    /// The right.
    pub lease: DeliveryLease,
    /// The event.
    pub event: DeliveredEvent,
    /// Through which subscription.
    pub subscription_id: SubscriptionId,
    /// Attempts recorded so far.
    pub attempts: u32,
}

/// One try of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began, epoch milliseconds.
    pub at_ms: EpochMs,
    /// How long it took.
    pub latency_ms: u64,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// The beginning of the response's body.
    pub response_excerpt: Option<String>,
    /// Why there is no answer, or none that counts.
    pub error: Option<String>,
}

/// The consequence of an attempt for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterAttempt {
    /// It was taken.
    Delivered,
    /// It is attempted again, not before this. Epoch milliseconds.
    RetryAt(EpochMs),
    /// It is given up.
    Dead,
}

/// An attempt to be recorded.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    /// Of which delivery.
    pub lease: DeliveryLease,
    /// How it went.
    pub attempt: Attempt,
    /// The consequence.
    pub after: AfterAttempt,
}

/// A webhook that the platform gives up.
#[derive(Debug, Clone)]
pub struct DisabledWebhook {
    /// Where the attempts went that this is judged by.
    pub url: String,
    /// For people.
    pub reason: String,
    /// On whose `$errors` that is told.
    pub emitter: EmitterId,
    /// The event that tells it.
    pub event: NewEvent,
}

/// The result of recording attempts.
#[derive(Debug)]
pub struct RecordedAttempts {
    /// One per attempt.
    pub results: Vec<Result<(), StoreError>>,
    /// Whether the webhook was disabled.
    pub disabled: bool,
}

/// A delivery as it is listed.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// Through which subscription.
    pub subscription_id: SubscriptionId,
    /// The event.
    pub event: DeliveredEvent,
    /// Where it is in its life.
    pub state: DeliveryState,
    /// Every attempt, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it is attempted next, epoch milliseconds; only while pending.
    pub next_attempt_at_ms: Option<EpochMs>,
    /// When it was dispatched, epoch milliseconds.
    pub created_at_ms: EpochMs,
}

/// Deliveries of a webhook to make once more: those that have ended, of events indexed within both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// Epoch milliseconds; included.
    pub since_ms: EpochMs,
    /// Epoch milliseconds; included.
    pub until_ms: EpochMs,
    /// Those that were delivered, too; otherwise dead ones only.
    pub delivered: bool,
    /// Epoch milliseconds. Deliveries that end after this are not replayed again.
    pub now_ms: EpochMs,
}

/// Webhooks as records.
#[async_trait]
pub trait Webhooks {
    /// Writes a webhook.
    async fn create_webhook(&self, webhook: Webhook) -> Result<(), StoreError>;

    /// A webhook.
    async fn webhook(&self, id: &WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// A page of the owner's webhooks in creation order: those in the workspace if there is one, else all that the
    /// user created (`conformance::webhooks::webhooks_are_listed_by_user_or_workspace`).
    async fn webhooks(
        &self,
        owner: &Owner,
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, StoreError>;

    /// Writes what is named and returns the webhook. `Gone` when it is.
    /// MUST leave what is not named, also what disabled it
    /// (`conformance::webhooks::an_update_leaves_what_it_does_not_name`).
    /// MUST forget why it was disabled, and begin a new count of failure, when it becomes active
    /// (`conformance::webhooks::a_webhook_made_active_again_has_failed_for_no_time`).
    /// MUST begin a new count of failure with another URL
    /// (`conformance::webhooks::a_webhook_at_another_url_has_failed_for_no_time`).
    /// MUST make pending deliveries dead when it becomes inactive
    /// (`conformance::webhooks::deliveries_of_a_webhook_made_inactive_are_dead_letters`): for everybody at once, also
    /// when it becomes active again, though it may write that for a bounded number of them only and leave the others to
    /// trimming (`conformance::webhooks::a_large_backlog_is_given_up_in_bounded_steps`).
    async fn update_webhook(
        &self,
        id: &WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook, StoreError>;

    /// Deletes a webhook with its subscriptions, automatic ones too, and deliveries. False: there was none.
    async fn delete_webhook(&self, id: &WebhookId) -> Result<bool, StoreError>;
}

/// The queue of deliveries. They are created by [`crate::EventLog::dispatch`].
#[async_trait]
pub trait Deliveries {
    /// Leases up to `limit` deliveries of one active webhook that are due and held by nobody: those never attempted in
    /// the order of their events, then those to be attempted again in the order in which they are due.
    /// MUST NOT lease one that is held by a lease that has not expired
    /// (`conformance::deliveries::a_claim_never_hands_out_a_held_delivery`).
    /// MUST lease those never attempted however many are to be attempted again
    /// (`conformance::deliveries::a_claim_ends_at_its_limits`).
    async fn claim_deliveries(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: ClaimLimit,
    ) -> Result<Vec<ClaimedDelivery>, StoreError>;

    /// `woken_webhooks`: of the active webhooks with deliveries that are due and held by nobody, the first `limit` behind
    /// `after` in the order of ids, those that are due first before others; `more`: to go on behind the largest of them;
    /// `next_due_ms`: when a delivery of those looked at is due next.
    /// MUST reach every one of them so (`conformance::deliveries::all_webhooks_with_work_are_reached_in_steps`).
    async fn webhooks_with_work(
        &self,
        now_ms: EpochMs,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// `woken_webhooks`: those with deliveries to be attempted again that became due after `after_ms`, up to `now_ms`;
    /// at most `limit` such deliveries are looked at, those that are due first before others, and `more` tells of
    /// others. `next_due_ms`: when the next delivery is to be attempted again, or behind which moment to go on.
    /// MUST find each retry at its time, and cost what is due, not what waits
    /// (`conformance::redelivery::a_retry_is_found_at_its_time`).
    async fn retries_due(
        &self,
        after_ms: EpochMs,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// Prolongs leases. Those that were lost are not prolonged and not reported.
    async fn extend_delivery_leases(
        &self,
        leases: &[DeliveryLease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError>;

    /// Gives leases back: somebody may claim the deliveries again at once. Harmless if they were lost.
    async fn release_deliveries(&self, leases: &[DeliveryLease]) -> Result<(), StoreError>;

    /// Records attempts of one webhook's deliveries, ends their leases and, if it is disabled, that too: its deliveries
    /// that are still pending are dead then, and the event is appended, all together.
    /// MUST refuse with `LeaseLost` an attempt whose lease was lost
    /// (`conformance::deliveries::an_attempt_is_refused_after_a_later_claim`).
    /// MUST NOT disable a webhook that is elsewhere by now
    /// (`conformance::webhooks::a_webhook_is_not_disabled_for_a_former_url`).
    /// MUST note since when every attempt has failed: nothing after one that was taken
    /// (`conformance::deliveries::a_webhook_knows_since_when_it_fails`).
    async fn record_attempts(
        &self,
        webhook_id: &WebhookId,
        attempts: Vec<AttemptRecord>,
        disabled: Option<DisabledWebhook>,
        now_ms: EpochMs,
    ) -> Result<RecordedAttempts, StoreError>;

    /// A page of a webhook's deliveries, newest first.
    async fn deliveries(
        &self,
        webhook_id: &WebhookId,
        state: Option<DeliveryState>,
        page: &PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, StoreError>;

    /// How far each of these webhooks is behind, in their order. Costs no more than a bound per webhook
    /// (`conformance::redelivery::a_webhook_knows_how_far_it_is_behind`,
    /// `conformance::redelivery::a_webhook_waits_no_longer_than_since_a_delivery_was_made_once_more`).
    async fn webhook_backlogs(&self, ids: &[WebhookId]) -> Result<Vec<WebhookBacklog>, StoreError>;

    /// A delivery.
    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// Up to `limit` deliveries of an event, in the order of their dispatch; none when the event is gone from the log.
    /// MUST find those of the event alone (`conformance::runs::an_events_deliveries_are_found`).
    async fn deliveries_of(
        &self,
        emitter: &EmitterId,
        event: EventId,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Makes a delivery that has ended pending again, due at once, with the whole schedule before it. One that is pending
    /// becomes due at once. `Gone` when it is, `Inactive` when its webhook is.
    async fn retry_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<(), StoreError>;

    /// Makes up to `limit` deliveries of a webhook pending again, oldest event first. Calling again goes on; `done` counts.
    async fn replay(
        &self,
        webhook_id: &WebhookId,
        replay: &Replay,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// Deletes up to `limit` deliveries, or writes that they are dead since their webhook became inactive: delivered ones
    /// beyond the newest `keep` per webhook, dead ones that ended before `dead_before_ms`; and events that no delivery
    /// needs any more.
    /// MUST NOT delete one that is pending (`conformance::deliveries::pending_deliveries_are_never_trimmed`).
    async fn trim_deliveries(
        &self,
        keep: u32,
        dead_before_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError>;
}
