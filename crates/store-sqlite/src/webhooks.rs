//! The webhook trait on SQLite.

use async_trait::async_trait;
use headwater_model::{
    id::WebhookId,
    page::{Page, PageRequest},
};
use headwater_store::{Owner, StoreError, Webhook, WebhookChange, Webhooks};

use crate::{store::SqliteStore, webhook_rows};

#[async_trait]
impl Webhooks for SqliteStore {
    async fn create_webhook(&self, webhook: Webhook) -> Result<(), StoreError> {
        self.write(move |connection| webhook_rows::create(connection, &webhook))
            .await
    }

    async fn webhook(&self, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        let id = id.clone();
        self.read(move |connection| webhook_rows::by_id(connection, id.as_str()))
            .await
    }

    async fn webhooks(
        &self,
        owner: &Owner,
        words: &[String],
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, StoreError> {
        let words: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
        let (owner, page) = (owner.clone(), page.clone());
        self.read(move |connection| webhook_rows::page(connection, &owner, &words, &page))
            .await
    }

    async fn update_webhook(
        &self,
        id: &WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook, StoreError> {
        let id = id.clone();
        self.write(move |connection| webhook_rows::update(connection, &id, &change))
            .await
    }

    async fn delete_webhook(&self, id: &WebhookId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| webhook_rows::delete(connection, id.as_str()))
            .await
    }
}
