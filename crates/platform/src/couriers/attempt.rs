//! One attempt.

use std::sync::Arc;

use headwater_model::time::EpochMs;
use headwater_store::ClaimedDelivery;

use super::{
    context::CourierContext, limits::Permit, request::Request, sender::Answer, target::Target,
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
    pub(super) answer: Answer,
}

/// One attempt, from its request to its answer.
pub(super) async fn attempt(
    context: Arc<CourierContext>,
    target: Arc<Target>,
    delivery: ClaimedDelivery,
    permit: Permit,
) -> Answered {
    let at_ms = context.core.env.now_ms();
    let span = begin_span(&context.core, &target, &delivery);
    let answer = match &target.url {
        Ok(url) => {
            let mut request = Request::new(&delivery, target.signers(at_ms), at_ms);
            request.trace(span.context());
            let sender = &context.sender;
            sender.send(url.clone(), request, at_ms).await
        }
        Err(reason) => Answer {
            error: Some(reason.clone()),
            ..Answer::default()
        },
    };
    drop(permit);
    end_span(span, &answer);
    Answered {
        target,
        delivery,
        at_ms,
        answer,
    }
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

fn end_span(span: Span, answer: &Answer) {
    let Some(status) = answer.status else {
        return span.end(&[], Some(answer.error.as_deref().unwrap_or("no answer")));
    };
    let failure = (!(200..300).contains(&status)).then_some("the receiver refused it");
    let code = Attribute::Number(status.into());
    span.end(&[("http.response.status_code", code)], failure);
}
