//! One event for an address without a webhook: one unsigned attempt, at once.
//!
//! Nothing of it is kept, and it is not made again. It keeps to the same addresses, limits and time as deliveries do.

use headwater_model::{
    event::{Event, EventRef},
    webhook::AttemptCause,
};
use headwater_store::Attempt;
use url::Url;

use super::{
    context::CourierContext,
    request::{ForwardedEvent, WebhookRequest},
};
use crate::error::PlatformError;

pub(super) async fn send(
    context: &CourierContext,
    of: &EventRef,
    event: &Event,
    url: Url,
) -> Result<Attempt, PlatformError> {
    let gate = context.limits.gate(url.host_str().unwrap_or_default());
    let permit = gate.acquire_at_once()?;
    let at_ms = context.core.env.now_ms();
    let request = WebhookRequest::unsigned(
        ForwardedEvent {
            emitter: &of.emitter,
            id: of.id,
            channel: &event.channel,
            body: event.event.get().to_owned().into(),
        },
        at_ms,
    );
    let answer = context.sender.send(url, request, at_ms).await;
    drop(permit);
    Ok(answer.attempt(at_ms, AttemptCause::Manual))
}
