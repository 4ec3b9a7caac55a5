//! A sample event for a webhook: one signed attempt, at once.
//!
//! Nothing of it is kept, it is not made again, and the webhook's health does not change with it. Receivers tell it apart
//! by its header `x-headwater-test` and by its body.

use bytes::Bytes;
use headwater_model::{
    id::DeliveryId,
    webhook::{AttemptCause, AttemptFailure},
};
use headwater_store::{Attempt, Webhook};
use serde_json::{Value, json};

use super::{context::CourierContext, request::WebhookRequest, sender::Answer, target::Target};
use crate::{error::PlatformError, platform_event::iso_8601};

/// A sample and its attempt.
#[derive(Debug, Clone)]
pub struct SentSample {
    /// The body that was sent.
    pub event: Value,
    /// The attempt, with its headers.
    pub attempt: Attempt,
}

impl SentSample {
    /// Whether the webhook took it.
    pub fn is_delivered(&self) -> bool {
        self.attempt.is_delivered()
    }
}

pub(super) async fn send(
    context: &CourierContext,
    webhook: Webhook,
) -> Result<SentSample, PlatformError> {
    let env = &context.core.env;
    let target = Target::new(webhook, &context.secret_keys, &context.limits)?;
    let permit = target.gate.acquire_at_once()?;
    let at_ms = env.now_ms();
    let id = format!("test_{}", env.id(DeliveryId::new));
    let event = json!({
        "test": true,
        "message": "a test event of Headwater: nothing happened",
        "id": id,
        "webhook_id": target.webhook.id,
        "sent_at": iso_8601(at_ms),
    });
    let answer = match &target.url {
        Ok(url) => {
            let body = Bytes::from(event.to_string());
            let request = WebhookRequest::of_sample(id, body, target.signers(at_ms), at_ms);
            context.sender.send(url.clone(), request, at_ms).await
        }
        Err(reason) => Answer {
            error: Some(reason.clone()),
            failure: Some(AttemptFailure::Blocked),
            ..Answer::default()
        },
    };
    drop(permit);
    let attempt = answer.attempt(at_ms, AttemptCause::Manual);
    Ok(SentSample { event, attempt })
}
