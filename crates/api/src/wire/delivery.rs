//! Deliveries to webhooks, not part of Pipedream's API.

use headwater_model::{
    channel::Channel,
    event::EventData,
    id::{DeliveryId, EmitterId, EventId, InvocationId, SubscriptionId, WebhookId},
    time::EpochMs,
    webhook::{AttemptCause, AttemptFailure, DeliveryState},
};
use headwater_platform::{MissedEvents, PlatformError, ReplayRequest};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    event::{expands_event, number_or_text},
    id, lenient,
};

/// `GET /webhooks/{id}/deliveries`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeliveriesRequest {
    /// Only deliveries in this state.
    #[param(inline, value_type = Option<State>)]
    pub(crate) state: Option<DeliveryState>,
    /// `event` shows event data whole that would be truncated beyond 1 KB.
    expand: Option<String>,
}

impl DeliveriesRequest {
    /// Whether events are to be shown whole.
    pub(crate) fn expands_event(&self) -> bool {
        expands_event(self.expand.as_deref())
    }
}

/// Operations on deliveries that are found in another way than by the state of one webhook's.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeliveryRequest {
    /// `event` shows event data whole that would be truncated beyond 1 KB.
    expand: Option<String>,
}

impl DeliveryRequest {
    /// Whether the event is to be shown whole.
    pub(crate) fn expands_event(&self) -> bool {
        expands_event(self.expand.as_deref())
    }
}

/// A selection of deliveries to repeat.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ReplayDeliveries {
    /// Those of events of this time and later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required)]
    since: Option<EpochMs>,
    /// Until this time; until now when left out.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    until: Option<EpochMs>,
    /// Also repeat successful deliveries, not only dead letters.
    #[serde(default, deserialize_with = "lenient::boolean")]
    delivered: Option<bool>,
    /// Instead, send kept events of the webhook's sources and workflows of which it has no delivery, such as those that came
    /// while it was paused: 1,000 at most, oldest first.
    #[serde(default, deserialize_with = "lenient::boolean")]
    missed: Option<bool>,
    /// With `missed`: whether only to count them, and to send nothing.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

impl ReplayDeliveries {
    /// The request for what was missed, if it is one.
    ///
    /// # Errors
    /// `Invalid` where fields do not go together, or `since` is absent.
    pub(crate) fn missed(&self) -> Result<Option<MissedEvents>, PlatformError> {
        let is_dry = self.dry_run.unwrap_or_default();
        if !self.missed.unwrap_or_default() {
            let reason =
                "`dry_run` goes with `missed`; `GET /deliveries/counts` counts other deliveries";
            return match is_dry {
                true => Err(PlatformError::invalid("dry_run", reason)),
                false => Ok(None),
            };
        }
        if self.delivered.unwrap_or_default() {
            let reason = "`delivered` and `missed` do not go together: give one of them";
            return Err(PlatformError::invalid("delivered", reason));
        }
        let since_ms = self.since.ok_or_else(|| {
            let reason = "`since` is required: a time in epoch milliseconds or ISO 8601";
            PlatformError::invalid("since", reason)
        })?;
        Ok(Some(MissedEvents {
            since_ms,
            until_ms: self.until,
            is_dry,
        }))
    }
}

impl From<ReplayDeliveries> for ReplayRequest {
    fn from(request: ReplayDeliveries) -> Self {
        Self {
            since_ms: request.since,
            until_ms: request.until,
            delivered: request.delivered.unwrap_or(false),
        }
    }
}

/// The result of a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Replayed {
    /// Deliveries that are pending again, or for the first time; in a dry run, those that would be.
    pub(crate) replayed: u64,
    /// With `missed`: whether there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_capped: Option<bool>,
}

/// A delivery: one event for one webhook.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Delivery {
    #[schema(value_type = id::Delivery)]
    id: DeliveryId,
    #[schema(value_type = id::Webhook)]
    webhook_id: WebhookId,
    #[schema(value_type = id::Subscription)]
    subscription_id: SubscriptionId,
    #[schema(value_type = id::Emitter)]
    emitter_id: EmitterId,
    #[schema(value_type = id::Event)]
    event_id: EventId,
    /// The channel; empty for the default one.
    #[schema(value_type = String)]
    event_name: Channel,
    /// The run that emitted the event, as long as the log has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Invocation>)]
    run_id: Option<InvocationId>,
    #[schema(inline, value_type = State)]
    state: DeliveryState,
    /// The time of its dispatch, in epoch milliseconds.
    #[schema(value_type = u64)]
    created_at_ms: EpochMs,
    /// Epoch milliseconds; null unless pending.
    #[schema(required, value_type = Option<u64>)]
    next_attempt_at_ms: Option<EpochMs>,
    /// Oldest first.
    attempts: Vec<Attempt>,
    /// The emitted event. Beyond 1 KB of JSON and without `expand=event`:
    /// `{"truncated": true, "preview": "…", "size_bytes": n}`.
    #[schema(value_type = Value)]
    event: EventData,
}

/// One try of a delivery.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Attempt {
    /// The time it began, in epoch milliseconds.
    #[schema(value_type = u64)]
    at_ms: EpochMs,
    /// The reason for it; absent where it was not recorded yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline, value_type = Option<Cause>)]
    cause: Option<AttemptCause>,
    latency_ms: u64,
    /// Null if there was no answer.
    #[schema(required)]
    status: Option<u16>,
    /// The beginning of the answer's body.
    #[schema(required)]
    response_excerpt: Option<String>,
    /// The reason why there is no answer, or none that counts.
    #[schema(required)]
    error: Option<String>,
    /// The kind of reason why it did not deliver; absent if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline, value_type = Option<Failure>)]
    failure: Option<AttemptFailure>,
    /// The headers that the node sent, the first 32 of them. Only in the delivery itself, not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_headers: Option<Vec<Header>>,
    /// The headers of the answer, the first 32 of them; the values of cookies and other credentials are not kept. Only in
    /// the delivery itself, not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_headers: Option<Vec<Header>>,
}

/// A header, with the first 256 bytes of its value.
#[derive(Debug, Serialize, ToSchema)]
struct Header {
    name: String,
    value: String,
}

impl Header {
    fn all(headers: Vec<(String, String)>) -> Vec<Self> {
        let headers = headers.into_iter();
        headers.map(|(name, value)| Self { name, value }).collect()
    }
}

/// The reason why an attempt was made.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for `AttemptCause` where a shape is described"
)]
enum Cause {
    /// The event came, or is sent again to a webhook that had no delivery of it.
    Event,
    /// The attempt before failed, and the time until the next one has passed.
    Retry,
    /// Somebody asked for it.
    Manual,
}

/// The kind of reason why an attempt did not deliver.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for `AttemptFailure` where a shape is described"
)]
enum Failure {
    /// The host's name did not resolve.
    Dns,
    /// The host refused the connection.
    Refused,
    /// The connection could not be secured.
    Tls,
    /// There was no answer in time.
    Timeout,
    /// The node may not reach the address.
    Blocked,
    /// The connection broke, or what came is not HTTP.
    Broken,
    /// The answer was a redirect, which is not followed.
    Redirect,
    /// The answer had another status than 2xx.
    Status,
}

/// The state of a delivery.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for `DeliveryState` where a shape is described"
)]
pub(super) enum State {
    Pending,
    Delivered,
    Dead,
    Discarded,
}

impl Delivery {
    /// The delivery with its event whole, or as a preview when it is large and not to be expanded.
    pub(crate) fn new(delivery: headwater_platform::Delivery, expands_event: bool) -> Self {
        let event = delivery.event;
        Self {
            id: delivery.id,
            webhook_id: delivery.webhook_id,
            subscription_id: delivery.subscription_id,
            emitter_id: event.emitter,
            event_id: event.id,
            event_name: event.channel,
            run_id: delivery.run_id,
            state: delivery.state,
            created_at_ms: delivery.created_at_ms,
            next_attempt_at_ms: delivery.next_attempt_at_ms,
            attempts: delivery.attempts.into_iter().map(Attempt::from).collect(),
            event: EventData::of(&event.event, expands_event),
        }
    }
}

impl From<headwater_platform::Attempt> for Attempt {
    fn from(attempt: headwater_platform::Attempt) -> Self {
        let (request, response) = match attempt.headers {
            Some(headers) => (Some(headers.request), Some(headers.response)),
            None => (None, None),
        };
        Self {
            at_ms: attempt.at_ms,
            cause: attempt.cause,
            latency_ms: attempt.latency_ms,
            status: attempt.status,
            response_excerpt: attempt.response_excerpt,
            error: attempt.error,
            failure: attempt.failure,
            request_headers: request.map(Header::all),
            response_headers: response.map(Header::all),
        }
    }
}
