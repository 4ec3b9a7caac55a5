//! Subscriptions (spec "Subscription").

use headwater_model::{
    channel::Channel,
    id::{ListenerId, SubscriptionId},
    subscription,
};
use serde::{Deserialize, Serialize};

/// `POST` and `DELETE /subscriptions`.
#[derive(Debug, Deserialize)]
pub(crate) struct SubscriptionRequest {
    pub(crate) emitter_id: Option<String>,
    pub(crate) listener_id: Option<String>,
    /// Empty and absent mean the default channel.
    pub(crate) event_name: Option<String>,
}

/// A subscription.
#[derive(Debug, Serialize)]
pub(crate) struct Subscription {
    id: SubscriptionId,
    emitter_id: String,
    listener_id: ListenerId,
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
