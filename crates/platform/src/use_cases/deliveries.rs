//! Deliveries to webhooks, successful and failed: reading them, and retrying by hand.

use headwater_model::{
    id::{DeliveryId, WebhookId},
    page::{Page, PageRequest},
    time::EpochMs,
    webhook::DeliveryState,
};
use headwater_store::{Delivery, Replay, Webhook};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    chore::Chore,
    error::PlatformError,
    platform::Platform,
};

/// Deliveries that one step of a replay sets to pending.
const REPLAY_BATCH: u32 = 500;

/// The deliveries of a webhook to repeat.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReplayRequest {
    /// Those of events indexed at this time or later, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// And at this time or before; until now when absent.
    pub until_ms: Option<EpochMs>,
    /// Those that were delivered, too; otherwise dead ones only.
    pub delivered: bool,
}

impl Platform {
    /// A page of a webhook's deliveries, newest first.
    pub async fn deliveries(
        &self,
        caller: &Caller,
        webhook_id: &WebhookId,
        state: Option<DeliveryState>,
        page: &PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, PlatformError> {
        self.webhook(caller, webhook_id).await?;
        Ok(self.core.store.deliveries(webhook_id, state, page).await?)
    }

    /// A delivery to a webhook that the caller may see.
    pub async fn delivery(
        &self,
        caller: &Caller,
        id: &DeliveryId,
    ) -> Result<Delivery, PlatformError> {
        let (delivery, _) = self.visible_delivery(caller, id).await?;
        Ok(delivery)
    }

    /// Makes a delivery due at once, with the whole schedule before it if it had ended.
    ///
    /// # Errors
    /// `Conflict` when the webhook is not active.
    pub async fn retry_delivery(
        &self,
        caller: &Caller,
        id: &DeliveryId,
    ) -> Result<Delivery, PlatformError> {
        let (_, webhook) = self.visible_delivery(caller, id).await?;
        self.check_active(&webhook).await?;
        self.core
            .store
            .retry_delivery(id, self.core.env.now_ms())
            .await?;
        self.core.nudges.nudge(Chore::Deliveries);
        self.record(
            caller,
            on_delivery(AuditAction::DeliveryRetry, id, &webhook),
        )
        .await;
        self.delivery(caller, id).await
    }

    /// Makes a time range of a webhook's deliveries once more, oldest event first, and says how many.
    ///
    /// # Errors
    /// `Invalid` for a range that is none, `Conflict` when the webhook is not active.
    pub async fn replay_deliveries(
        &self,
        caller: &Caller,
        webhook_id: &WebhookId,
        request: ReplayRequest,
    ) -> Result<u64, PlatformError> {
        let replay = replay(request, self.core.env.now_ms())?;
        let webhook = self.webhook(caller, webhook_id).await?;
        self.check_active(&webhook).await?;
        let mut replayed = 0;
        loop {
            let step = self
                .core
                .store
                .replay(webhook_id, &replay, REPLAY_BATCH)
                .await?;
            replayed += step.done;
            self.core.nudges.nudge(Chore::Deliveries);
            if !step.more {
                let act = Act::on_webhook(AuditAction::WebhookReplay, &webhook);
                let act = act
                    .with("count", replayed)
                    .with("since_ms", replay.since_ms.0);
                let act = act.with("until_ms", replay.until_ms.0);
                self.record(caller, act.with("delivered", replay.delivered))
                    .await;
                return Ok(replayed);
            }
        }
    }

    pub(super) async fn visible_delivery(
        &self,
        caller: &Caller,
        id: &DeliveryId,
    ) -> Result<(Delivery, Webhook), PlatformError> {
        let not_found = || PlatformError::not_found("delivery", id);
        let delivery = self.core.store.delivery(id).await?.ok_or_else(not_found)?;
        let webhook = self.core.store.webhook(&delivery.webhook_id).await?;
        let webhook = webhook.filter(|webhook| caller.may_see(&webhook.owner));
        Ok((delivery, webhook.ok_or_else(not_found)?))
    }
}

/// An act on one delivery, told with its webhook.
pub(super) fn on_delivery(action: AuditAction, id: &DeliveryId, webhook: &Webhook) -> Act {
    let act = Act::new(action, "delivery", id).of(&webhook.owner);
    act.with("webhook_id", webhook.id.as_str())
}

fn replay(request: ReplayRequest, now_ms: EpochMs) -> Result<Replay, PlatformError> {
    let since_ms = request.since_ms.ok_or_else(|| {
        PlatformError::invalid(
            "since",
            "`since` is required: a time in epoch milliseconds or ISO 8601",
        )
    })?;
    let until_ms = request.until_ms.unwrap_or(now_ms).min(now_ms);
    if until_ms < since_ms {
        let reason = "`until` must not be before `since`, and `since` must not be in the future";
        return Err(PlatformError::invalid("until", reason));
    }
    Ok(Replay {
        since_ms,
        until_ms,
        delivered: request.delivered,
        now_ms,
    })
}

impl Platform {
    /// Checks that a webhook takes deliveries.
    ///
    /// # Errors
    /// `Conflict` when it is not active.
    pub(super) async fn check_active(&self, webhook: &Webhook) -> Result<(), PlatformError> {
        if webhook.active {
            return Ok(());
        }
        let word = self.webhook_called(webhook).await;
        let shown = webhook.name.as_deref().unwrap_or(webhook.id.as_str());
        Err(PlatformError::Conflict(format!(
            "webhook `{shown}` is not active; activate it first (`headwater webhooks activate {word}`)"
        )))
    }
}
