//! Subscriptions: listeners and the emitters that they listen to.

use async_trait::async_trait;
use headwater_model::{
    id::{UserId, WorkspaceId},
    subscription::{AutoSubscription, Subscription},
};

use crate::error::StoreError;

/// Subscriptions to list, in creation order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionFilter {
    /// All that the user created.
    User(UserId),
    /// Those of all users whose emitter or listener lives in the workspace, or whose emitter is the
    /// workspace itself.
    Workspace(WorkspaceId),
}

/// Subscriptions and automatic subscriptions.
#[async_trait]
pub trait Subscriptions {
    /// Writes a subscription, unless the user has one with the same emitter, listener and channel:
    /// then that one is returned and nothing changes. It matches events appended from now on.
    async fn subscribe(&self, subscription: Subscription) -> Result<Subscription, StoreError>;

    /// Deletes the user's subscription with this emitter, listener and channel. False: there was none.
    async fn unsubscribe(&self, like: &Subscription) -> Result<bool, StoreError>;

    /// Subscriptions in creation order; at most `limit`.
    async fn subscriptions(
        &self,
        filter: &SubscriptionFilter,
        limit: u32,
    ) -> Result<Vec<Subscription>, StoreError>;

    /// Writes an automatic subscription, unless the user has one with the same listener and channel: then that one
    /// is returned. Every source and workflow that the user creates from now on gets a subscription of its own from it
    /// (`conformance::subscriptions::an_automatic_subscription_reaches_later_sources_only`,
    /// `conformance::workflows::an_automatic_subscription_reaches_later_workflows_only`).
    async fn subscribe_automatically(
        &self,
        subscription: AutoSubscription,
    ) -> Result<AutoSubscription, StoreError>;

    /// Deletes the user's automatic subscription with this listener and channel; the subscriptions that it has created stay.
    /// False: there was none.
    async fn unsubscribe_automatically(&self, like: &AutoSubscription) -> Result<bool, StoreError>;
}
