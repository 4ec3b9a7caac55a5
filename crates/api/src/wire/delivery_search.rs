//! Searching and changing deliveries over all webhooks, not part of Pipedream's API.

use headwater_model::{
    event_search::EventMatcher,
    id::{EmitterId, EventId, WebhookId, WorkspaceId},
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};
use headwater_platform::{DeliveriesChanged, DeliveryFilter, PlatformError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{event::number_or_text, id, lenient};

/// `GET /deliveries` and `GET /deliveries/counts`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchDeliveries {
    /// Only deliveries in one of these states, separated by commas: `pending`, `delivered`, `dead`, `discarded`.
    state: Option<String>,
    /// Only those to this webhook.
    #[param(value_type = Option<id::Webhook>)]
    webhook_id: Option<WebhookId>,
    /// Only those to webhooks in this workspace.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
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
    /// Only those whose event or its summary has all of these words, in any case. A request reads 1,000 events at most.
    q: Option<String>,
}

impl TryFrom<SearchDeliveries> for DeliveryFilter {
    type Error = PlatformError;

    fn try_from(request: SearchDeliveries) -> Result<Self, PlatformError> {
        Ok(Self {
            ids: Vec::new(),
            states: states(request.state.as_deref())?,
            workspace_id: request.workspace_id.or(request.org_id),
            webhook_id: request.webhook_id,
            emitter: request.emitter_id,
            event: request.event_id,
            answer: request.status,
            since_ms: request.since,
            until_ms: request.until,
            matcher: matcher(request.q.as_deref())?,
        })
    }
}

/// The states of a list with commas.
fn states(text: Option<&str>) -> Result<Vec<DeliveryState>, PlatformError> {
    let words = text.into_iter().flat_map(|text| text.split(','));
    let words = words.map(str::trim).filter(|word| !word.is_empty());
    let state = |word: &str| {
        let state = serde_json::from_value(word.into());
        state.map_err(|_| {
            let reason = format!(
                "`{word}` is not a state of deliveries; give some of `pending`, `delivered`, `dead` and `discarded`, \
                 separated by commas"
            );
            PlatformError::invalid("state", reason)
        })
    };
    words.map(state).collect()
}

fn matcher(words: Option<&str>) -> Result<EventMatcher, PlatformError> {
    EventMatcher::new(words.unwrap_or_default(), &[]).map_err(PlatformError::Invalid)
}

/// A selection of deliveries to retry or to discard, as `GET /deliveries` takes it. A name that is not known is refused, as it
/// would make the selection larger.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"state": "dead", "status": "5xx", "dry_run": true}))]
pub(crate) struct ChangeDeliveries {
    /// Only deliveries in one of these states, separated by commas; dead letters if it is left out.
    state: Option<String>,
    /// Only those to this webhook.
    #[schema(value_type = Option<id::Webhook>)]
    webhook_id: Option<WebhookId>,
    /// Only those to webhooks in this workspace; `org_id` means the same.
    #[serde(alias = "org_id")]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
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
    /// Only those whose event or its summary has all of these words, in any case.
    q: Option<String>,
    /// Whether only to count them, and to change nothing.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dry_run: Option<bool>,
}

impl ChangeDeliveries {
    pub(crate) fn is_dry(&self) -> bool {
        self.dry_run.unwrap_or_default()
    }
}

impl TryFrom<ChangeDeliveries> for DeliveryFilter {
    type Error = PlatformError;

    fn try_from(request: ChangeDeliveries) -> Result<Self, PlatformError> {
        Ok(Self {
            ids: Vec::new(),
            states: states(request.state.as_deref())?,
            workspace_id: request.workspace_id,
            webhook_id: request.webhook_id,
            emitter: request.emitter_id,
            event: request.event_id,
            answer: request.status,
            since_ms: request.since,
            until_ms: request.until,
            matcher: matcher(request.q.as_deref())?,
        })
    }
}

/// The extent of a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedDeliveries {
    /// Deliveries that were changed; in a dry run, those that would be.
    count: u64,
    /// Deliveries that are left as they are, because their webhook is not active.
    left_out: u64,
    /// Whether a dry run stopped after 10,000 deliveries (with `q` after 1,000), and there may be more.
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
    /// Whether counting stopped after 10,000 (of deliveries by words after 1,000), and there may be more.
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
