//! One attempt.

use std::{pin::pin, sync::Arc, time::Duration};

use headwater_model::{time::EpochMs, webhook::AttemptFailure};
use headwater_store::ClaimedDelivery;

use super::{
    context::CourierContext, limits::Permit, request::WebhookRequest, sender::Answer,
    target::Target,
};
use crate::{
    core::Core,
    spans::{Attribute, NewSpan, Span, SpanKind},
};

/// An attempt that has ended.
pub(super) struct Answered {
    /// The address that it went to.
    pub(super) target: Arc<Target>,
    pub(super) delivery: ClaimedDelivery,
    pub(super) at_ms: EpochMs,
    /// None if the attempt was slow and those to unwell webhooks had no room: it is to be made again, in their turn.
    pub(super) answer: Option<Answer>,
}

/// One attempt, from its request to its answer.
pub(super) async fn attempt(
    context: Arc<CourierContext>,
    target: Arc<Target>,
    delivery: ClaimedDelivery,
    mut permit: Permit,
) -> Answered {
    let at_ms = context.core.env.now_ms();
    let span = begin_span(&context.core, &target, &delivery);
    let answer = match &target.url {
        Ok(url) => {
            let mut request = WebhookRequest::new(&delivery, target.signers(at_ms), at_ms);
            request.trace(span.context());
            let sending = context.sender.send(url.clone(), request, at_ms);
            let quick_within = context.core.config.deliveries.quick_within;
            answer(sending, &mut permit, quick_within).await
        }
        Err(reason) => Some(Answer {
            error: Some(reason.clone()),
            failure: Some(AttemptFailure::Blocked),
            ..Answer::default()
        }),
    };
    drop(permit);
    end_span(span, answer.as_ref());
    Answered {
        target,
        delivery,
        at_ms,
        answer,
    }
}

/// The answer, for which an attempt that takes longer than `quick_within` waits among those to unwell webhooks.
async fn answer(
    sending: impl Future<Output = Answer>,
    permit: &mut Permit,
    quick_within: Duration,
) -> Option<Answer> {
    let mut sending = pin!(sending);
    if !permit.is_of_unwell() {
        let quick = tokio::time::timeout(quick_within, &mut sending).await;
        if let Ok(answer) = quick {
            return Some(answer);
        }
        if !permit.count_as_unwell() {
            return None;
        }
    }
    Some(sending.await)
}

/// The attempt's span, in the trace of the run that emitted the event.
fn begin_span(core: &Core, target: &Target, delivery: &ClaimedDelivery) -> Span {
    let webhook_id = target.webhook.id.as_str();
    let delivery_id = delivery.lease.delivery_id.as_str();
    let before = delivery.attempts.into();
    core.begin_span(NewSpan {
        name: "delivery",
        kind: SpanKind::Client,
        parent: delivery.event.trace,
        attributes: &[
            ("headwater.webhook_id", Attribute::Text(webhook_id)),
            ("headwater.delivery_id", Attribute::Text(delivery_id)),
            ("http.request.resend_count", Attribute::Number(before)),
        ],
    })
}

fn end_span(span: Span, answer: Option<&Answer>) {
    let Some(status) = answer.and_then(|answer| answer.status) else {
        let error = answer.and_then(|answer| answer.error.as_deref());
        return span.end(&[], Some(error.unwrap_or("no answer")));
    };
    let failure = (!(200..300).contains(&status)).then_some("the receiver refused it");
    let code = Attribute::Number(status.into());
    span.end(&[("http.response.status_code", code)], failure);
}
