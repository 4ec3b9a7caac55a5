//! `/sources/{id}/events/{event_id}/send` and the same of workflows; not part of Pipedream's API.

use axum::extract::{Extension, State};
use headwater_model::{
    event::EventRef,
    id::{SourceId, WorkflowId},
};
use headwater_platform::{Caller, Platform};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::{Params, PathEvent},
    openapi::failure,
    wire::{Data, SendEvent, SentEvent, id},
};

/// Sends an event of a source to a URL once
///
/// POSTs it at once as a webhook would get it, but unsigned, and answers with the attempt. It is neither kept nor repeated,
/// and nothing is subscribed. Addresses are those that webhooks may have. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/sources/{id}/events/{event_id}/send",
    operation_id = "send_source_event",
    tag = "Events",
    params(("id" = id::Source, Path), ("event_id" = id::Event, Path)),
    request_body = SendEvent,
    responses((status = 200, description = "The attempt, whether it was taken or not.", body = Data<SentEvent>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn source_event(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<SourceId>,
    Params(request): Params<SendEvent>,
) -> DataReply<SentEvent> {
    send(&platform, &caller, &event, &request).await
}

/// Sends an event of a workflow to a URL once
///
/// As for an event of a source. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/workflows/{id}/events/{event_id}/send",
    operation_id = "send_workflow_event",
    tag = "Events",
    params(("id" = id::Workflow, Path), ("event_id" = id::Event, Path)),
    request_body = SendEvent,
    responses((status = 200, description = "The attempt, whether it was taken or not.", body = Data<SentEvent>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn workflow_event(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<WorkflowId>,
    Params(request): Params<SendEvent>,
) -> DataReply<SentEvent> {
    send(&platform, &caller, &event, &request).await
}

async fn send(
    platform: &Platform,
    caller: &Caller,
    event: &EventRef,
    request: &SendEvent,
) -> DataReply<SentEvent> {
    data(platform.send_event(caller, event, request.url()).await?.into())
}
