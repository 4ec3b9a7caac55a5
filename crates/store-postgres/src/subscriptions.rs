//! Subscriptions behind the trait.

use async_trait::async_trait;
use headwater_model::subscription::{AutoSubscription, Subscription};
use headwater_store::{StoreError, SubscriptionFilter, Subscriptions};

use crate::{auto_subscriptions, store::PostgresStore, subscription_rows};

#[async_trait]
impl Subscriptions for PostgresStore {
    async fn subscribe(&self, subscription: Subscription) -> Result<Subscription, StoreError> {
        let subscription = &subscription;
        self.write(|connection| async move {
            subscription_rows::create(&connection, subscription).await
        })
        .await
    }

    async fn unsubscribe(&self, like: &Subscription) -> Result<bool, StoreError> {
        self.write(|connection| async move { subscription_rows::delete(&connection, like).await })
            .await
    }

    async fn subscriptions(
        &self,
        filter: &SubscriptionFilter,
        limit: u32,
    ) -> Result<Vec<Subscription>, StoreError> {
        self.read(|connection| async move {
            subscription_rows::listed(&connection, filter, limit).await
        })
        .await
    }

    async fn subscribe_automatically(
        &self,
        subscription: AutoSubscription,
    ) -> Result<AutoSubscription, StoreError> {
        let subscription = &subscription;
        self.write(|connection| async move {
            auto_subscriptions::create(&connection, subscription).await
        })
        .await
    }

    async fn unsubscribe_automatically(&self, like: &AutoSubscription) -> Result<bool, StoreError> {
        self.write(|connection| async move { auto_subscriptions::delete(&connection, like).await })
            .await
    }
}
