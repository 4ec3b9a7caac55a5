//! Webhooks and the deliveries to them.
//!
//! ```text
//!  dispatch ──► pending ──► leased ──► attempt ──► delivered
//!                  ▲                      │
//!                  └──── backoff ◄────────┼──► dead ──► pending (retried by hand)
//!                                                 └───► discarded (by hand, also while pending)
//! ```
//! The event's data is stored once for all of its deliveries, for as long as one of them exists.

use async_trait::async_trait;
use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::{DeliveryId, EmitterId, EventId, InvocationId, SubscriptionId, WebhookId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
    trace::TraceParent,
    webhook::{AttemptCause, AttemptFailure, DeliveryOrder, DeliveryState},
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
    /// The URL to which events are POSTed.
    pub url: String,
    /// Whether it receives events. Events dispatched while it is inactive are skipped.
    pub active: bool,
    /// The order in which it receives an emitter's events.
    pub ordering: DeliveryOrder,
    /// The reason why the platform deactivated it, if it did.
    pub disabled_reason: Option<String>,
    /// The sealed secret that deliveries are signed with.
    pub secret: Sealed,
    /// The former secret, while it is still valid.
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

/// A change of a webhook. A field that is `None` keeps its value, even if it was changed in the meantime.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookChange {
    /// Another name, or `Some(None)` to remove it.
    pub name: Option<Option<String>>,
    /// Another description, or `Some(None)` to remove it.
    pub description: Option<Option<String>>,
    /// Another address.
    pub url: Option<String>,
    /// Whether it receives events.
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
    /// The former secret, if it stays valid.
    pub former: Option<FormerSecret>,
}

/// The backlog of a webhook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookBacklog {
    /// Pending deliveries, counted up to `limits::PENDING_DELIVERIES_COUNTED_MAX`.
    pub pending: u64,
    /// Since when the oldest of them waits, epoch milliseconds: since it was dispatched, or retried by hand.
    pub oldest_at_ms: Option<EpochMs>,
}

/// The bounds of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimLimit {
    /// Deliveries in all.
    pub deliveries: u32,
    /// Deliveries among them that were attempted before.
    pub retries: u32,
    /// Bytes of event data. The delivery that reaches the bound is still claimed, so that the largest event can be.
    pub bytes: u64,
}

/// The right to attempt one delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLease {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// The holder.
    pub epoch: NodeEpoch,
    /// The fencing number, from 1: counts how often the delivery was leased.
    pub number: u32,
}

/// The event of a delivery.
#[derive(Debug, Clone)]
pub struct DeliveredEvent {
    /// The emitter.
    pub emitter: EmitterId,
    /// Its id in the emitter's log, which may have trimmed it by now.
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
    /// The subscription that created it.
    pub subscription_id: SubscriptionId,
    /// Attempts recorded since it was dispatched or replayed.
    pub attempts: u32,
    /// The reason for its next attempt.
    pub cause: AttemptCause,
}

/// The deliveries that a claim leased, and the webhook that they are for.
#[derive(Debug, Clone)]
pub struct ClaimedDeliveries {
    /// The webhook as it was in the moment of the claim; `None`: it is gone or not active, and nothing was leased.
    pub webhook: Option<Webhook>,
    /// The deliveries, in the order in which to attempt them.
    pub deliveries: Vec<ClaimedDelivery>,
}

/// One attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began, epoch milliseconds.
    pub at_ms: EpochMs,
    /// The reason for it; `None` of attempts from before it was recorded.
    pub cause: Option<AttemptCause>,
    /// Its duration in milliseconds.
    pub latency_ms: u64,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// The beginning of the response's body.
    pub response_excerpt: Option<String>,
    /// The error, if there was no answer or no acceptable one.
    pub error: Option<String>,
    /// The reason why it did not deliver.
    pub failure: Option<AttemptFailure>,
    /// The headers that went out and came back; `None` in pages, and of attempts that kept none.
    pub headers: Option<AttemptHeaders>,
}

impl Attempt {
    /// Whether it was answered 2xx.
    pub fn is_delivered(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }
}

/// The headers of an attempt, as names and values, as many as are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptHeaders {
    /// Those of the request, as they were sent.
    pub request: Vec<(String, String)>,
    /// Those of the response; none if nothing answered.
    pub response: Vec<(String, String)>,
}

/// The consequence of an attempt for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterAttempt {
    /// It was delivered.
    Delivered,
    /// It is attempted again, not before this. Epoch milliseconds.
    RetryAt(EpochMs),
    /// It is given up.
    Dead,
}

/// An attempt to record.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    /// The lease of its delivery.
    pub lease: DeliveryLease,
    /// The attempt.
    pub attempt: Attempt,
    /// The consequence.
    pub after: AfterAttempt,
}

/// A webhook that the platform gives up.
#[derive(Debug, Clone)]
pub struct DisabledWebhook {
    /// The URL of the attempts that led to this.
    pub url: String,
    /// For people.
    pub reason: String,
    /// The emitter on whose `$errors` the event is appended.
    pub emitter: EmitterId,
    /// The event that reports it.
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
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The subscription that created it.
    pub subscription_id: SubscriptionId,
    /// The event.
    pub event: DeliveredEvent,
    /// The run that emitted it, as long as the log has it.
    pub run_id: Option<InvocationId>,
    /// Its summary, as long as the log has it.
    pub summary: Option<String>,
    /// Where it is in its life.
    pub state: DeliveryState,
    /// Every attempt, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it is attempted next, epoch milliseconds; only while pending.
    pub next_attempt_at_ms: Option<EpochMs>,
    /// When it was dispatched, epoch milliseconds.
    pub created_at_ms: EpochMs,
}

/// A delivery as its event leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// Where it is in its life.
    pub state: DeliveryState,
}

/// Deliveries of a webhook to make once more: those that have ended, of events indexed within both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// Epoch milliseconds; included.
    pub since_ms: EpochMs,
    /// Epoch milliseconds; included.
    pub until_ms: EpochMs,
    /// Whether delivered ones are replayed too; otherwise dead ones only.
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
    /// user created (`conformance::webhooks::webhooks_are_listed_by_user_or_workspace`), reduced to those whose name has
    /// all of the words, in any case; one without a name goes by its URL
    /// (`conformance::webhooks::webhooks_are_reduced_by_name`).
    async fn webhooks(
        &self,
        owner: &Owner,
        words: &[String],
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, StoreError>;

    /// Writes the given fields and returns the webhook. `Gone` when it is.
    /// MUST keep all other fields, also the reason why it was disabled
    /// (`conformance::webhooks::an_update_leaves_what_it_does_not_name`).
    /// MUST clear the reason why it was disabled, and restart the time of failure, when it becomes active
    /// (`conformance::webhooks::a_webhook_made_active_again_has_failed_for_no_time`).
    /// MUST restart the time of failure with another URL
    /// (`conformance::webhooks::a_webhook_at_another_url_has_failed_for_no_time`).
    /// MUST make pending deliveries dead when it becomes inactive
    /// (`conformance::webhooks::deliveries_of_a_webhook_made_inactive_are_dead_letters`): visibly at once, also
    /// if it becomes active again; a store may write that for a bounded number of them and leave the others to
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
    /// MUST return the webhook's record of the same moment
    /// (`conformance::deliveries::a_claim_comes_with_the_webhooks_present_record`).
    async fn claim_deliveries(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: ClaimLimit,
    ) -> Result<ClaimedDeliveries, StoreError>;

    /// Gives back what is leased of a webhook's deliveries under exactly this term: a claim whose answer was lost has leased
    /// it, and nobody knows.
    /// MUST leave leases of other terms, and those of other webhooks
    /// (`conformance::deliveries::deliveries_of_a_lost_claim_are_given_back`).
    async fn release_delivery_claim(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
    ) -> Result<(), StoreError>;

    /// `woken_webhooks`: of the active webhooks with deliveries that are due and not leased, the first `limit` after
    /// `after` in the order of ids, sorted by due time; `more`: continue after the largest of them;
    /// `next_due_ms`: when a delivery of those looked at is due next.
    /// MUST reach every one of them this way (`conformance::deliveries::all_webhooks_with_work_are_reached_in_steps`).
    async fn webhooks_with_work(
        &self,
        now_ms: EpochMs,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// `woken_webhooks`: those with deliveries to be attempted again that became due after `after_ms`, up to `now_ms`;
    /// at most `limit` such deliveries are read, in the order of due times; `more`: there are others.
    /// `next_due_ms`: the due time of the next retry, or the moment after which to continue.
    /// MUST find each retry at its time, at a cost that depends on the due deliveries, not on all that wait
    /// (`conformance::redelivery::a_retry_is_found_at_its_time`).
    async fn retries_due(
        &self,
        after_ms: EpochMs,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// Prolongs leases. Lost ones are ignored.
    async fn extend_delivery_leases(
        &self,
        leases: &[DeliveryLease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError>;

    /// Gives leases back: the deliveries may be claimed again at once. Harmless if they were lost.
    async fn release_deliveries(&self, leases: &[DeliveryLease]) -> Result<(), StoreError>;

    /// Records attempts of one webhook's deliveries, ends their leases and, if it is disabled, that too: its deliveries
    /// that are still pending are dead then, and the event is appended, all together.
    /// MUST refuse with `LeaseLost` an attempt whose lease was lost
    /// (`conformance::deliveries::an_attempt_is_refused_after_a_later_claim`).
    /// MUST NOT disable a webhook that has another URL by now
    /// (`conformance::webhooks::a_webhook_is_not_disabled_for_a_former_url`).
    /// MUST record since when every attempt has failed, and clear that after a successful one
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

    /// The backlog of each of these webhooks, in their order. The cost per webhook is bounded
    /// (`conformance::redelivery::a_webhook_knows_how_far_it_is_behind`,
    /// `conformance::redelivery::a_webhook_waits_no_longer_than_since_a_delivery_was_made_once_more`).
    async fn webhook_backlogs(&self, ids: &[WebhookId]) -> Result<Vec<WebhookBacklog>, StoreError>;

    /// Of each of these webhooks, in their order, the last attempt to any of its `among` newest deliveries, without headers
    /// (`conformance::redelivery::the_last_attempt_at_each_webhook_is_found`).
    async fn last_attempts(
        &self,
        ids: &[WebhookId],
        among: u32,
    ) -> Result<Vec<Option<Attempt>>, StoreError>;

    /// A delivery, with the headers of its attempts
    /// (`conformance::deliveries::attempts_are_kept_and_decide_what_becomes_of_a_delivery`).
    /// MUST name the run that emitted its event (`conformance::runs::an_events_deliveries_are_found`), in pages too.
    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// Of each of an emitter's events, up to `limit` deliveries in the order of their dispatch; none when the event is gone
    /// from the log.
    /// MUST find those of the event alone (`conformance::runs::an_events_deliveries_are_found`).
    async fn deliveries_of(
        &self,
        emitter: &EmitterId,
        events: &[EventId],
        limit: u32,
    ) -> Result<Vec<Vec<EventDelivery>>, StoreError>;

    /// Makes a delivery that has ended pending again, due at once, with a new retry schedule. A pending one
    /// becomes due at once. `Gone` when it is, `Inactive` when its webhook is.
    async fn retry_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<(), StoreError>;

    /// Gives a pending or dead delivery up, so that only [`Deliveries::retry_delivery`] makes it pending again. False: it
    /// has been delivered. `Gone` when it is.
    /// MUST void its lease: an attempt under way is not recorded
    /// (`conformance::discarding::an_attempt_of_a_discarded_delivery_is_refused`).
    /// MUST keep it from being claimed and replayed until it is retried
    /// (`conformance::discarding::a_discarded_delivery_is_attempted_only_after_a_retry`).
    async fn discard_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<bool, StoreError>;

    /// Makes up to `limit` deliveries of a webhook pending again, oldest event first. Calling again continues; `done`
    /// counts.
    async fn replay(
        &self,
        webhook_id: &WebhookId,
        replay: &Replay,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// Deletes up to `limit` deliveries, or writes that they are dead since their webhook became inactive: delivered ones
    /// beyond the newest `keep` per webhook, dead and discarded ones that ended before `dead_before_ms`; and events that no
    /// delivery needs any more (`conformance::discarding::discarded_deliveries_are_kept_as_long_as_dead_ones`).
    /// MUST NOT delete one that is pending (`conformance::deliveries::pending_deliveries_are_never_trimmed`).
    async fn trim_deliveries(
        &self,
        keep: u32,
        dead_before_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError>;
}
