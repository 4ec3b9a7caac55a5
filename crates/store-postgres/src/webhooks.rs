//! The webhook trait on PostgreSQL.

use async_trait::async_trait;
use headwater_model::{
    id::WebhookId,
    page::{Page, PageRequest},
};
use headwater_store::{Owner, StoreError, Webhook, WebhookChange, Webhooks};

use crate::{store::PostgresStore, webhook_rows};

#[async_trait]
impl Webhooks for PostgresStore {
    async fn create_webhook(&self, webhook: Webhook) -> Result<(), StoreError> {
        let webhook = &webhook;
        self.write(|connection| async move { webhook_rows::create(&connection, webhook).await })
            .await
    }

    async fn webhook(&self, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        self.read(|connection| async move { webhook_rows::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn webhooks(
        &self,
        owner: &Owner,
        words: &[String],
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, StoreError> {
        let words: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
        let words = &words;
        self.read(
            |connection| async move { webhook_rows::page(&connection, owner, words, page).await },
        )
        .await
    }

    async fn update_webhook(
        &self,
        id: &WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook, StoreError> {
        let change = &change;
        self.write(|connection| async move { webhook_rows::update(&connection, id, change).await })
            .await
    }

    async fn delete_webhook(&self, id: &WebhookId) -> Result<bool, StoreError> {
        self.write(|connection| async move { webhook_rows::delete(&connection, id.as_str()).await })
            .await
    }
}
