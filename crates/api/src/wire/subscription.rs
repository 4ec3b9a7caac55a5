//! Subscriptions (spec "Subscription").

use headwater_model::{
    channel::Channel,
    id::{ListenerId, SubscriptionId},
    subscription,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::id;

/// `POST` and `DELETE /subscriptions`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SubscriptionRequest {
    /// A source or a workflow, `dc_*` for all sources, `p_*` for all workflows, or the caller's own
    /// `u_…` or `o_…` for everything it has.
    #[param(required)]
    pub(crate) emitter_id: Option<String>,
    /// A source, a workflow or a webhook.
    #[param(required)]
    pub(crate) listener_id: Option<String>,
    /// The channel: one that components name, `$errors` or `$logs`. Empty and absent mean the
    /// default one.
    pub(crate) event_name: Option<String>,
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
