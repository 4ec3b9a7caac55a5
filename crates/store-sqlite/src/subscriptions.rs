//! Subscriptions behind the trait.

use async_trait::async_trait;
use headwater_model::subscription::{AutoSubscription, Subscription};
use headwater_store::{StoreError, SubscriptionFilter, Subscriptions};

use crate::{auto_subscriptions, store::SqliteStore, subscription_rows};

#[async_trait]
impl Subscriptions for SqliteStore {
    async fn subscribe(&self, subscription: Subscription) -> Result<Subscription, StoreError> {
        self.write(move |connection| subscription_rows::create(connection, &subscription))
            .await
    }

    async fn unsubscribe(&self, like: &Subscription) -> Result<bool, StoreError> {
        let like = like.clone();
        self.write(move |connection| subscription_rows::delete(connection, &like))
            .await
    }

    async fn subscriptions(
        &self,
        filter: &SubscriptionFilter,
        limit: u32,
    ) -> Result<Vec<Subscription>, StoreError> {
        let filter = filter.clone();
        self.read(move |connection| subscription_rows::listed(connection, &filter, limit))
            .await
    }

    async fn subscribe_automatically(
        &self,
        subscription: AutoSubscription,
    ) -> Result<AutoSubscription, StoreError> {
        self.write(move |connection| auto_subscriptions::create(connection, &subscription))
            .await
    }

    async fn unsubscribe_automatically(&self, like: &AutoSubscription) -> Result<bool, StoreError> {
        let like = like.clone();
        self.write(move |connection| auto_subscriptions::delete(connection, &like))
            .await
    }
}
