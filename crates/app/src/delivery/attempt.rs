//! One attempt.

use std::sync::Arc;

use headwater_store::ClaimedDelivery;

use super::{limits::Permit, request::Request, sender::Answer, target::Target};
use crate::app::App;

/// An attempt that has ended.
pub(super) struct Answered {
    pub(super) delivery: ClaimedDelivery,
    pub(super) at_ms: u64,
    pub(super) answer: Answer,
}

/// One attempt, from its request to its answer.
pub(super) async fn attempt(
    app: Arc<App>,
    target: Arc<Target>,
    delivery: ClaimedDelivery,
    permit: Permit,
) -> Answered {
    let at_ms = app.env.now_ms();
    let answer = match &target.url {
        Ok(url) => {
            let request = Request::new(&delivery, target.signers(at_ms), at_ms);
            let sender = &app.couriers.sender;
            sender.send(url.clone(), request, at_ms).await
        }
        Err(reason) => Answer {
            error: Some(reason.clone()),
            ..Answer::default()
        },
    };
    drop(permit);
    Answered {
        delivery,
        at_ms,
        answer,
    }
}
