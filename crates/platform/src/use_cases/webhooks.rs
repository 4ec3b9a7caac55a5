//! Webhooks: creating, changing and deleting them, and their secrets (docs/api-design.md, "Webhooks").
//! Their deliveries are the business of `deliveries`, and delivering is that of `couriers`.

pub(crate) mod address;
mod secret;

use std::{cmp::Reverse, time::Duration};

use headwater_model::{
    id::{WebhookId, WorkspaceId},
    limits::PAGE_LIMIT_MAX,
    page::{Page, PageRequest},
    webhook::{DeliveryOrder, FORMER_SECRET_VALID},
};
use headwater_store::{
    Attempt, FormerSecret, RecentAttempts, Sealed, StoreError, Webhook, WebhookBacklog,
    WebhookChange, WebhookSecrets,
};

use crate::{
    audit::{Act, AuditAction, host},
    caller::Caller,
    changes::Change,
    chore::Chore,
    couriers::{
        DELIVERED_KEPT, SentSample,
        signature::{new_secret, purpose},
    },
    error::PlatformError,
    platform::Platform,
    use_cases::scanned::PAGES_MAX,
};

/// The time over which attempts are counted.
const RECENT: Duration = Duration::from_hours(24);
/// A name is a line.
const NAME_CHARS: usize = 256;
/// A description is a page.
const DESCRIPTION_CHARS: usize = 4096;

/// A webhook to be created.
#[derive(Debug, Clone, Default)]
pub struct NewWebhook {
    /// The URL that events are POSTed to.
    pub url: String,
    /// For people.
    pub name: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The order in which it gets an emitter's events.
    pub ordering: DeliveryOrder,
    /// The workspace it lives in, if any.
    pub workspace_id: Option<WorkspaceId>,
}

/// `PATCH /webhooks/{id}`: fields that are `None` stay.
#[derive(Debug, Clone, Default)]
pub struct UpdateWebhook {
    /// Another name, or none any more.
    pub name: Option<Option<String>>,
    /// Another description, or none any more.
    pub description: Option<Option<String>>,
    /// Another address.
    pub url: Option<String>,
    /// Whether events are delivered.
    pub active: Option<bool>,
    /// Another order.
    pub ordering: Option<DeliveryOrder>,
}

/// A webhook with its secret in clear, which is shown only when it is new.
#[derive(Clone)]
pub struct WebhookWithSecret {
    /// The record.
    pub webhook: Webhook,
    /// `whsec_…`.
    pub secret: String,
}

/// Whether somebody is needed: it was disabled, or it is active and its last attempts failed.
fn fails(webhook: &Webhook) -> bool {
    let is_failing = webhook.active && webhook.failing_since_ms.is_some();
    webhook.disabled_reason.is_some() || is_failing
}

impl Platform {
    /// Creates a webhook with a secret of its own.
    ///
    /// # Errors
    /// `Invalid` for a URL that nothing may be delivered to, `Forbidden` in a workspace of
    /// others, `NotFound` in none.
    pub async fn create_webhook(
        &self,
        caller: &Caller,
        new: NewWebhook,
    ) -> Result<WebhookWithSecret, PlatformError> {
        let url = address::checked(&new.url, &self.core.config.deliveries.network)?;
        let name = text("name", new.name, NAME_CHARS)?;
        let description = text("description", new.description, DESCRIPTION_CHARS)?;
        let owner = self.owner(caller, new.workspace_id).await?;
        let id = self.core.env.id(WebhookId::new);
        let secret = new_secret(&self.core.env);
        let now_at = self.core.env.now_at();
        let webhook = Webhook {
            secret: self.sealed(&id, &secret)?,
            id,
            owner,
            name,
            description,
            url,
            active: true,
            ordering: new.ordering,
            disabled_reason: None,
            former_secret: None,
            failing_since_ms: None,
            created_at: now_at,
            updated_at: now_at,
        };
        self.core.store.create_webhook(webhook.clone()).await?;
        self.core.tell(Change::of_webhook(&webhook));
        self.record(caller, told(AuditAction::WebhookCreate, &webhook))
            .await;
        Ok(WebhookWithSecret { webhook, secret })
    }

    /// A page of the webhooks that the caller created, or of those in the workspace, in creation order.
    ///
    /// # Errors
    /// `Forbidden` in a workspace of others, `NotFound` in none.
    pub async fn webhooks(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, PlatformError> {
        self.find_webhooks(caller, workspace_id, &[], page).await
    }

    /// The same, reduced to those whose name has all of the words, in any case. One without a name goes by its URL.
    ///
    /// # Errors
    /// As [`Platform::webhooks`].
    pub async fn find_webhooks(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        words: &[String],
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        Ok(self.core.store.webhooks(&owner, words, page).await?)
    }

    /// The webhooks that fail or were disabled, of the first 1,000, and whether these are all; those that began to fail
    /// last come first.
    ///
    /// # Errors
    /// As [`Platform::webhooks`].
    pub async fn failing_webhooks(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<(Vec<Webhook>, bool), PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        let mut failing = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(page) = next else { break };
            let items = self.core.store.webhooks(&owner, &[], &page).await?.items;
            next = page.behind(&items, |webhook| webhook.id.clone());
            failing.extend(items.into_iter().filter(fails));
        }
        failing.sort_by_key(|webhook| Reverse(webhook.failing_since_ms));
        Ok((failing, next.is_none()))
    }

    /// The backlogs of webhooks that the caller has been shown, in their order.
    pub async fn webhook_backlogs(
        &self,
        ids: &[WebhookId],
    ) -> Result<Vec<WebhookBacklog>, PlatformError> {
        Ok(self.core.store.webhook_backlogs(ids).await?)
    }

    /// The last attempts at webhooks that the caller has been shown, in their order, each to any of its `among` newest
    /// deliveries.
    pub async fn last_attempts(
        &self,
        ids: &[WebhookId],
        among: u32,
    ) -> Result<Vec<Option<Attempt>>, PlatformError> {
        Ok(self.core.store.last_attempts(ids, among).await?)
    }

    /// The attempts of the last 24 hours at webhooks that the caller has been shown, in their order: those of the newest
    /// deliveries, as many as are kept of any state.
    pub async fn webhooks_health(
        &self,
        ids: &[WebhookId],
    ) -> Result<Vec<RecentAttempts>, PlatformError> {
        let since_ms = self.core.env.now_ms().minus(RECENT);
        let health = self
            .core
            .store
            .webhooks_health(ids, since_ms, DELIVERED_KEPT);
        Ok(health.await?)
    }

    /// Sends a sample event to a webhook, signed as its deliveries are, active or not, and waits for the answer. Nothing of
    /// it is kept.
    ///
    /// # Errors
    /// `Conflict` while as many attempts as its host may have are in flight.
    pub async fn test_webhook(
        &self,
        caller: &Caller,
        id: &WebhookId,
    ) -> Result<SentSample, PlatformError> {
        let webhook = self.webhook(caller, id).await?;
        let act = told(AuditAction::WebhookTest, &webhook);
        let sent = self.couriers.send_sample(webhook).await?;
        self.record(caller, act).await;
        Ok(sent)
    }

    /// A webhook that the caller may see.
    pub async fn webhook(&self, caller: &Caller, id: &WebhookId) -> Result<Webhook, PlatformError> {
        let webhook = self.core.store.webhook(id).await?;
        webhook
            .filter(|webhook| caller.may_see(&webhook.owner))
            .ok_or_else(|| PlatformError::not_found("webhook", id))
    }

    /// Changes the given fields. A deactivated webhook gives up its pending deliveries.
    pub async fn update_webhook(
        &self,
        caller: &Caller,
        id: &WebhookId,
        change: UpdateWebhook,
    ) -> Result<Webhook, PlatformError> {
        let _turn = self.webhook_changes.lock().await;
        self.webhook(caller, id).await?;
        let name = change.name.map(|name| text("name", name, NAME_CHARS));
        let description = change
            .description
            .map(|described| text("description", described, DESCRIPTION_CHARS));
        let network = &self.core.config.deliveries.network;
        let url = change.url.map(|url| address::checked(&url, network));
        let change = WebhookChange {
            name: name.transpose()?,
            description: description.transpose()?,
            url: url.transpose()?,
            active: change.active,
            ordering: change.ordering,
            ..WebhookChange::default()
        };
        let (fields, active) = (changed_fields(&change), change.active);
        let webhook = self.write_webhook_change(id, change).await?;
        let act = told(AuditAction::WebhookUpdate, &webhook);
        let act = act.with("fields", fields).with_some("active", active);
        self.record(caller, act).await;
        Ok(webhook)
    }

    /// Deletes a webhook with its subscriptions and deliveries.
    pub async fn delete_webhook(
        &self,
        caller: &Caller,
        id: &WebhookId,
    ) -> Result<(), PlatformError> {
        let _turn = self.webhook_changes.lock().await;
        let webhook = self.webhook(caller, id).await?;
        self.core.store.delete_webhook(id).await?;
        self.couriers.webhook_changed(id);
        self.core.tell(Change::of_webhook(&webhook));
        self.record(caller, told(AuditAction::WebhookDelete, &webhook))
            .await;
        Ok(())
    }

    /// Gives a webhook the given secret, or a new one. The former one stays valid for a day: deliveries
    /// are signed with both.
    ///
    /// # Errors
    /// `Invalid` for a secret that is none.
    pub async fn rotate_webhook_secret(
        &self,
        caller: &Caller,
        id: &WebhookId,
        given: Option<String>,
    ) -> Result<WebhookWithSecret, PlatformError> {
        let secret = match given {
            Some(given) => secret::checked(given)?,
            None => new_secret(&self.core.env),
        };
        let _turn = self.webhook_changes.lock().await;
        let former = self.webhook(caller, id).await?.secret;
        // One that no key opens signs nothing any more.
        let is_lost = self.secret_keys.open(&purpose(id), &former).is_err();
        let former = FormerSecret {
            sealed: former,
            valid_until_ms: self.core.env.now_ms() + FORMER_SECRET_VALID,
        };
        let secrets = WebhookSecrets {
            current: self.sealed(id, &secret)?,
            former: (!is_lost).then_some(former),
        };
        let change = WebhookChange {
            secrets: Some(secrets),
            ..WebhookChange::default()
        };
        let webhook = self.write_webhook_change(id, change).await?;
        self.record(caller, told(AuditAction::WebhookRotateSecret, &webhook))
            .await;
        Ok(WebhookWithSecret { webhook, secret })
    }

    fn sealed(&self, id: &WebhookId, secret: &str) -> Result<Sealed, PlatformError> {
        self.secret_keys
            .seal(&self.core.env, &purpose(id), secret.as_bytes())
    }

    async fn write_webhook_change(
        &self,
        id: &WebhookId,
        mut change: WebhookChange,
    ) -> Result<Webhook, PlatformError> {
        change.updated_at = self.core.env.now_at();
        match self.core.store.update_webhook(id, change).await {
            Ok(webhook) => {
                self.couriers.webhook_changed(id);
                self.core.tell(Change::of_webhook(&webhook));
                if !webhook.active {
                    // Much that waits is given up in steps.
                    self.core.nudges.nudge(Chore::Retention);
                }
                Ok(webhook)
            }
            Err(StoreError::Conflict(_)) => Err(PlatformError::not_found("webhook", id)),
            Err(error) => Err(error.into()),
        }
    }
}

/// An act on a webhook, with the host that it leads to: its path may be a secret.
fn told(action: AuditAction, webhook: &Webhook) -> Act {
    Act::on_webhook(action, webhook).with("host", host(&webhook.url))
}

fn changed_fields(change: &WebhookChange) -> Vec<&'static str> {
    let fields = [
        ("name", change.name.is_some()),
        ("description", change.description.is_some()),
        ("url", change.url.is_some()),
        ("active", change.active.is_some()),
        ("ordering", change.ordering.is_some()),
    ];
    let given = fields.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(field, _)| field).collect()
}

/// Empty text is none.
fn text(
    field: &str,
    text: Option<String>,
    chars_max: usize,
) -> Result<Option<String>, PlatformError> {
    let text = text.filter(|text| !text.is_empty());
    if text
        .as_ref()
        .is_some_and(|text| text.chars().count() > chars_max)
    {
        let reason = format!("`{field}` may have at most {chars_max} characters");
        return Err(PlatformError::invalid(field, reason));
    }
    Ok(text)
}
