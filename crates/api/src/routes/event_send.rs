//! `/events/send`: sending one event to a URL once; not part of Pipedream's API.

use axum::extract::{Extension, State};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::Params,
    openapi::failure,
    wire::{Data, SendEvent, SentEvent},
};

/// Sends an event to a URL once
///
/// POSTs a kept event of a source or workflow at once as a webhook would get it, but unsigned, and answers with the attempt.
/// It is neither kept nor repeated, and nothing is subscribed. Addresses are those that webhooks may have. Not part of
/// Pipedream's API.
#[utoipa::path(
    post,
    path = "/events/send",
    operation_id = "send_event",
    tag = "Events",
    request_body = SendEvent,
    responses((status = 200, description = "The attempt, whether it was taken or not.", body = Data<SentEvent>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn send(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<SendEvent>,
) -> DataReply<SentEvent> {
    let (event, url) = request.into_parts();
    data(platform.send_event(&caller, &event, &url).await?.into())
}
