//! Searching and changing deliveries over all webhooks, not part of Pipedream's API.

use headwater_model::{
    id::{EmitterId, EventId, WebhookId},
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};
use headwater_platform::{DeliveriesChanged, DeliveryFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{delivery::State, event::number_or_text, id, lenient};

/// `GET /deliveries` and `GET /deliveries/counts`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchDeliveries {
    /// Only deliveries in this state.
    #[param(inline, value_type = Option<State>)]
    state: Option<DeliveryState>,
    /// Only those to this webhook.
    #[param(value_type = Option<id::Webhook>)]
    webhook_id: Option<WebhookId>,
    /// Only those of events of this source or workflow; `source_id` means the same.
    #[serde(alias = "source_id")]
    #[param(value_type = Option<id::Emitter>)]
    emitter_id: Option<EmitterId>,
    /// Only those of this event.
    #[param(value_type = Option<id::Event>)]
    event_id: Option<EventId>,
    /// Only those whose last attempt ended so: `1xx` to `5xx`, or why nothing answered: `dns`, `refused`, `tls`, `timeout`,
    /// `blocked` (the node may not reach the address) or `broken`.
    #[param(value_type = Option<String>)]
    status: Option<AnswerKind>,
    /// Only those dispatched at this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    since: Option<EpochMs>,
    /// Only those dispatched at this time or before.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    until: Option<EpochMs>,
}

impl From<SearchDeliveries> for DeliveryFilter {
    fn from(request: SearchDeliveries) -> Self {
        Self {
            state: request.state,
            webhook_id: request.webhook_id,
            emitter: request.emitter_id,
            event: request.event_id,
            answer: request.status,
            since_ms: request.since,
            until_ms: request.until,
        }
    }
}

/// A selection of deliveries to retry or to discard, as `GET /deliveries` takes it.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"state": "dead", "status": "5xx", "dry_run": true}))]
pub(crate) struct ChangeDeliveries {
    /// Only deliveries in this state; dead letters if it is left out.
    #[schema(inline, value_type = Option<State>)]
    state: Option<DeliveryState>,
    /// Only those to this webhook.
    #[schema(value_type = Option<id::Webhook>)]
    webhook_id: Option<WebhookId>,
    /// Only those of events of this source or workflow; `source_id` means the same.
    #[serde(alias = "source_id")]
    #[schema(value_type = Option<id::Emitter>)]
    emitter_id: Option<EmitterId>,
    /// Only those of this event.
    #[schema(value_type = Option<id::Event>)]
    event_id: Option<EventId>,
    /// Only those whose last attempt ended so.
    #[schema(value_type = Option<String>)]
    status: Option<AnswerKind>,
    /// Only those dispatched at this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    since: Option<EpochMs>,
    /// Only those dispatched at this time or before; until now when left out.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[schema(schema_with = number_or_text, required = false)]
    until: Option<EpochMs>,
    /// Whether only to count them, and to change nothing.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

impl ChangeDeliveries {
    pub(crate) fn is_dry(&self) -> bool {
        self.dry_run.unwrap_or_default()
    }
}

impl From<ChangeDeliveries> for DeliveryFilter {
    fn from(request: ChangeDeliveries) -> Self {
        Self {
            state: request.state,
            webhook_id: request.webhook_id,
            emitter: request.emitter_id,
            event: request.event_id,
            answer: request.status,
            since_ms: request.since,
            until_ms: request.until,
        }
    }
}

/// The extent of a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedDeliveries {
    /// Deliveries that were changed; in a dry run, those that would be.
    count: u64,
    /// Deliveries that are left as they are, because their webhook is not active.
    left_out: u64,
    /// Whether a dry run stopped after 10,000 deliveries, and there may be more.
    is_capped: bool,
    /// Whether nothing was changed.
    dry_run: bool,
}

impl ChangedDeliveries {
    pub(crate) fn new(changed: DeliveriesChanged, is_dry: bool) -> Self {
        Self {
            count: changed.count,
            left_out: changed.left_out,
            is_capped: changed.is_capped,
            dry_run: is_dry,
        }
    }
}

/// Deliveries by state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliveryCounts {
    pending: CappedCount,
    delivered: CappedCount,
    dead: CappedCount,
    discarded: CappedCount,
}

/// A count that goes no further than a bound.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CappedCount {
    count: u64,
    /// Whether counting stopped after 10,000, and there may be more.
    is_capped: bool,
}

impl From<headwater_platform::CappedCount> for CappedCount {
    fn from(counted: headwater_platform::CappedCount) -> Self {
        Self {
            count: counted.count,
            is_capped: counted.is_capped,
        }
    }
}

impl From<headwater_platform::DeliveryCounts> for DeliveryCounts {
    fn from(counts: headwater_platform::DeliveryCounts) -> Self {
        Self {
            pending: counts.pending.into(),
            delivered: counts.delivered.into(),
            dead: counts.dead.into(),
            discarded: counts.discarded.into(),
        }
    }
}
