//! Webhooks (docs/api-design.md, "Webhooks"). Their secrets go out with the answers that create them,
//! and never again.

use headwater_model::{
    id::{UserId, WebhookId, WorkspaceId},
    time::{EpochMs, EpochSeconds},
    webhook::DeliveryOrder,
};
use headwater_platform::{
    NewWebhook, RecentAttempts, SentSample, WebhookBacklog, WebhookWithSecret,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    delivery::Attempt,
    id,
    lenient::{self, expands},
};

/// The order in which a webhook gets an emitter's events.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(
    dead_code,
    reason = "the shape of the document; the model has the values"
)]
pub(crate) enum Ordering {
    /// One after the other, while the webhook accepts them.
    Strict,
    /// In parallel, as many as the node has in flight per webhook.
    None,
}

/// `POST /webhooks`.
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateWebhook {
    /// URL that events are POSTed to: http or https, with a host. Required, in the query or the body.
    url: Option<String>,
    /// For people.
    name: Option<String>,
    /// For people.
    description: Option<String>,
    /// The order in which it gets an emitter's events: `strict` unless given.
    #[param(value_type = Option<Ordering>)]
    #[schema(value_type = Option<Ordering>)]
    ordering: Option<DeliveryOrder>,
    /// The workspace that it is for.
    #[param(value_type = Option<id::Workspace>)]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl From<CreateWebhook> for NewWebhook {
    fn from(request: CreateWebhook) -> Self {
        Self {
            url: request.url.unwrap_or_default(),
            name: request.name,
            description: request.description,
            ordering: request.ordering.unwrap_or_default(),
            workspace_id: request.workspace_id.or(request.org_id),
        }
    }
}

/// The listing of webhooks, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WebhooksRequest {
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
    /// Parts of the name, separated by spaces, in any case; all of them. A webhook without a name goes by its URL. Not part
    /// of Pipedream's API.
    q: Option<String>,
    /// `health` adds `health` to each. Not part of Pipedream's API.
    expand: Option<String>,
}

impl WebhooksRequest {
    /// The parts of the name.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = self.q.as_deref().unwrap_or_default();
        words.split_whitespace().map(str::to_owned).collect()
    }

    pub(crate) fn workspace_id(&self) -> Option<WorkspaceId> {
        self.workspace_id.clone().or(self.org_id.clone())
    }

    /// Whether webhooks are to be shown with their health.
    pub(crate) fn expands_health(&self) -> bool {
        expands(self.expand.as_deref(), "health")
    }
}

/// The parameters of a webhook that is shown.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WebhookRequest {
    /// `health` adds `health`. Not part of Pipedream's API.
    expand: Option<String>,
}

impl WebhookRequest {
    /// Whether the webhook is to be shown with its health.
    pub(crate) fn expands_health(&self) -> bool {
        expands(self.expand.as_deref(), "health")
    }
}

/// A change of a webhook.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct UpdateWebhook {
    /// For people; null or an empty text removes it.
    #[serde(default, deserialize_with = "lenient::nullable")]
    #[schema(value_type = Option<String>)]
    name: Option<Option<String>>,
    /// For people; null or an empty text removes it.
    #[serde(default, deserialize_with = "lenient::nullable")]
    #[schema(value_type = Option<String>)]
    description: Option<Option<String>>,
    /// URL that events are POSTed to: http or https, with a host. Required, in the query or the body.
    url: Option<String>,
    /// Whether events are delivered.
    #[serde(default, deserialize_with = "lenient::boolean")]
    active: Option<bool>,
    /// The order in which it gets an emitter's events.
    #[schema(value_type = Option<Ordering>)]
    ordering: Option<DeliveryOrder>,
}

impl From<UpdateWebhook> for headwater_platform::UpdateWebhook {
    fn from(request: UpdateWebhook) -> Self {
        Self {
            name: request.name,
            description: request.description,
            url: request.url,
            active: request.active,
            ordering: request.ordering,
        }
    }
}

/// A secret of one's own.
#[derive(Deserialize, ToSchema)]
pub(crate) struct RotateSecret {
    /// `whsec_` and 24 to 64 bytes in base64; a new random secret if absent.
    pub(crate) secret: Option<String>,
}

/// A webhook: a URL that events are delivered to.
#[derive(Serialize, ToSchema)]
pub(crate) struct Webhook {
    #[schema(value_type = id::Webhook)]
    id: WebhookId,
    #[schema(value_type = id::User)]
    user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    #[schema(required)]
    name: Option<String>,
    #[schema(required)]
    description: Option<String>,
    url: String,
    /// Whether events are delivered.
    active: bool,
    /// The order in which it gets an emitter's events.
    #[schema(value_type = Ordering)]
    ordering: DeliveryOrder,
    /// Pending deliveries, counted up to 1,000.
    pending_deliveries: u64,
    /// The time the oldest of them was queued, or repeated by hand, in epoch milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    oldest_pending_at_ms: Option<EpochMs>,
    /// The reason why the platform deactivated it, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_reason: Option<String>,
    /// Since when every attempt has failed, epoch milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    failing_since_ms: Option<EpochMs>,
    /// Until when deliveries are signed with the former secret, too, in epoch milliseconds; absent if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    former_secret_valid_until_ms: Option<EpochMs>,
    /// Only with `expand=health`.
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<WebhookHealth>,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
    /// The signing secret of deliveries; only when it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl From<headwater_platform::Webhook> for Webhook {
    fn from(webhook: headwater_platform::Webhook) -> Self {
        Self {
            id: webhook.id,
            user_id: webhook.owner.user_id,
            workspace_id: webhook.owner.workspace_id,
            name: webhook.name,
            description: webhook.description,
            url: webhook.url,
            active: webhook.active,
            ordering: webhook.ordering,
            pending_deliveries: 0,
            oldest_pending_at_ms: None,
            disabled_reason: webhook.disabled_reason,
            failing_since_ms: webhook.failing_since_ms,
            former_secret_valid_until_ms: webhook.former_secret.map(|former| former.valid_until_ms),
            health: None,
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
            secret: None,
        }
    }
}

impl Webhook {
    /// The same with its backlog.
    pub(crate) fn with_backlog(self, backlog: WebhookBacklog) -> Self {
        Self {
            pending_deliveries: backlog.pending,
            oldest_pending_at_ms: backlog.oldest_at_ms,
            ..self
        }
    }

    /// The same with its health.
    pub(crate) fn with_health(self, recent: RecentAttempts) -> Self {
        Self {
            health: Some(recent.into()),
            ..self
        }
    }
}

/// The attempts of late of a webhook.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookHealth {
    last_24_hours: Attempts,
}

/// The attempts of the newest 100 deliveries of the last 24 hours.
#[derive(Debug, Serialize, ToSchema)]
struct Attempts {
    attempts: u32,
    /// Those that did not deliver.
    failures: u32,
    /// The latency that half of them did not exceed, in milliseconds. Null without attempts.
    #[schema(required)]
    p50_ms: Option<u64>,
    /// The latency that 95 of 100 did not exceed, in milliseconds. Null without attempts.
    #[schema(required)]
    p95_ms: Option<u64>,
    /// Since when deliveries were dispatched that are counted, in epoch milliseconds, if older ones of the last 24 hours
    /// are not; otherwise null.
    #[schema(required, value_type = Option<u64>)]
    since_ms: Option<EpochMs>,
}

impl From<RecentAttempts> for WebhookHealth {
    fn from(recent: RecentAttempts) -> Self {
        let last_24_hours = Attempts {
            attempts: recent.attempts,
            failures: recent.failures,
            p50_ms: recent.p50_ms,
            p95_ms: recent.p95_ms,
            since_ms: recent.since_ms,
        };
        Self { last_24_hours }
    }
}

/// A test event and the answer of the webhook.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestedWebhook {
    /// Whether the webhook took it: whether it answered 2xx.
    delivered: bool,
    /// The body that was sent. Its `test` is true.
    event: Value,
    attempt: Attempt,
}

impl From<SentSample> for TestedWebhook {
    fn from(sent: SentSample) -> Self {
        Self {
            delivered: sent.is_delivered(),
            event: sent.event,
            attempt: sent.attempt.into(),
        }
    }
}

impl From<WebhookWithSecret> for Webhook {
    fn from(new: WebhookWithSecret) -> Self {
        Self {
            secret: Some(new.secret),
            ..Self::from(new.webhook)
        }
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::limits::PENDING_DELIVERIES_COUNTED_MAX;
    use serde_json::json;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn the_document_has_the_models_orders() {
        for (shown, order) in [
            (Ordering::Strict, DeliveryOrder::Strict),
            (Ordering::None, DeliveryOrder::Unordered),
        ] {
            assert_eq!(json!(shown), json!(order));
        }
    }

    #[test]
    fn the_document_says_how_far_deliveries_are_counted() {
        let counted = PENDING_DELIVERIES_COUNTED_MAX;
        let told = format!("counted up to {},{:03}.", counted / 1_000, counted % 1_000);
        let shown = json!(Webhook::schema()).to_string();
        assert!(shown.contains(&told), "{told}: {shown}");
    }
}
