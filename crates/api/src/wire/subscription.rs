//! Subscriptions (docs/api-design.md, "Quirks").

use headwater_model::{
    channel::Channel,
    id::{ListenerId, SubscriptionId, WorkspaceId},
    subscription,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::id;

/// `POST` and `DELETE /subscriptions`.
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct SubscriptionRequest {
    /// A source or a workflow, `dc_*` for all sources, `p_*` for all workflows, or the caller's own
    /// `u_…` or `o_…` for everything it has. Required, in the query or the body.
    #[param(example = "dc_*")]
    pub(crate) emitter_id: Option<String>,
    /// A source, a workflow or a webhook. Required, in the query or the body.
    #[param(example = "dc_0DkqLtSyJ4yOMpWg5tVxNq")]
    pub(crate) listener_id: Option<String>,
    /// The channel: one that components name, `$errors` or `$logs`. Empty and absent mean the
    /// default one.
    pub(crate) event_name: Option<String>,
    /// A workspace of the caller. Not with `dc_*` and `p_*`, which mean everything that the caller
    /// created, in every workspace: `o_…` as `emitter_id` is everything in a workspace.
    #[param(value_type = Option<id::Workspace>)]
    #[schema(value_type = Option<id::Workspace>)]
    pub(crate) workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    #[schema(value_type = Option<id::Workspace>)]
    pub(crate) org_id: Option<WorkspaceId>,
}

/// A subscription: an emitter's events on a channel reach a listener.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Subscription {
    #[schema(value_type = id::Subscription)]
    id: SubscriptionId,
    /// A source, a workflow, or a pattern such as `dc_*`.
    emitter_id: String,
    #[schema(value_type = id::Listener)]
    listener_id: ListenerId,
    /// The channel; empty for the default one.
    #[schema(value_type = String)]
    event_name: Channel,
}

impl From<subscription::Subscription> for Subscription {
    fn from(subscription: subscription::Subscription) -> Self {
        Self {
            id: subscription.id,
            emitter_id: subscription.emitter.to_string(),
            listener_id: subscription.listener,
            event_name: subscription.channel,
        }
    }
}

/// `POST` and `DELETE /auto_subscriptions`.
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct AutoSubscriptionRequest {
    /// `$errors` or `$logs`. Required, in the query or the body.
    pub(crate) event_name: Option<String>,
    /// A source, a workflow or a webhook. Required, in the query or the body.
    pub(crate) listener_id: Option<String>,
}

/// An automatic subscription: a listener gets a subscription to every source and workflow created later.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AutoSubscription {
    #[schema(value_type = id::Subscription)]
    id: SubscriptionId,
    /// `$errors` or `$logs`. Required, in the query or the body.
    #[schema(value_type = String)]
    event_name: Channel,
    #[schema(value_type = id::Listener)]
    listener_id: ListenerId,
}

impl From<subscription::AutoSubscription> for AutoSubscription {
    fn from(subscription: subscription::AutoSubscription) -> Self {
        Self {
            id: subscription.id,
            event_name: subscription.channel,
            listener_id: subscription.listener,
        }
    }
}
