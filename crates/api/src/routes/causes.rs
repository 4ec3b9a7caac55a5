//! `/sources/{id}/events/{event_id}` and the same of workflows, with what the event caused; not part of Pipedream's
//! API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::{
    event::EventRef,
    id::{DeliveryId, InvocationId, SourceId, WorkflowId},
    page::PageRequest,
};
use headwater_platform::{Caller, Platform};

use super::{ApiState, CallerExtension, DataReply, PageReply, data, delivery_search::shown};
use crate::{
    extract::{Pages, Paging, Params, PathEvent, cursor},
    openapi::failure,
    wire::{Data, Delivery, DeliveryRequest, EventDetail, ListenerRun, Paged, id},
};

/// Shows an event of a source
///
/// Whole, on whatever channel, as long as the log has it. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/events/{event_id}",
    operation_id = "show_source_event",
    tag = "Events",
    params(("id" = id::Source, Path), ("event_id" = id::Event, Path)),
    responses((status = 200, description = "The event.", body = Data<EventDetail>), failure::NotFound),
)]
pub(crate) async fn source_event(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<SourceId>,
) -> DataReply<EventDetail> {
    show(&platform, &caller, &event).await
}

/// Shows an event of a workflow
///
/// Whole, on whatever channel, as long as the log has it. Emitted data are shown as `raw_event`. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/events/{event_id}",
    operation_id = "show_workflow_event",
    tag = "Events",
    params(("id" = id::Workflow, Path), ("event_id" = id::Event, Path)),
    responses((status = 200, description = "The event.", body = Data<EventDetail>), failure::NotFound),
)]
pub(crate) async fn workflow_event(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<WorkflowId>,
) -> DataReply<EventDetail> {
    show(&platform, &caller, &event).await
}

async fn show(platform: &Platform, caller: &Caller, event: &EventRef) -> DataReply<EventDetail> {
    let found = platform.event(caller, event).await?;
    data(EventDetail::new(found, event.emitter.clone()))
}

/// Lists the runs that an event of a source caused
///
/// Those of the listening sources and workflows that the caller may see, newest first, whether they have ended or
/// not. Runs are found as long as their records are kept, also after the event has left the log. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/events/{event_id}/runs",
    operation_id = "list_source_event_runs",
    tag = "Events",
    params(("id" = id::Source, Path), ("event_id" = id::Event, Path), Pages),
    responses((status = 200, description = "A page of runs.", body = Paged<ListenerRun>), failure::NotFound),
)]
pub(crate) async fn source_event_runs(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<SourceId>,
    Paging(page): Paging<InvocationId>,
) -> PageReply<ListenerRun> {
    runs(&platform, &caller, &event, &page).await
}

/// Lists the runs that an event of a workflow caused
///
/// Those of the listening sources and workflows that the caller may see, newest first, whether they have ended or
/// not. Runs are found as long as their records are kept, also after the event has left the log. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/events/{event_id}/runs",
    operation_id = "list_workflow_event_runs",
    tag = "Events",
    params(("id" = id::Workflow, Path), ("event_id" = id::Event, Path), Pages),
    responses((status = 200, description = "A page of runs.", body = Paged<ListenerRun>), failure::NotFound),
)]
pub(crate) async fn workflow_event_runs(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<WorkflowId>,
    Paging(page): Paging<InvocationId>,
) -> PageReply<ListenerRun> {
    runs(&platform, &caller, &event, &page).await
}

async fn runs(
    platform: &Platform,
    caller: &Caller,
    event: &EventRef,
    page: &PageRequest<InvocationId>,
) -> PageReply<ListenerRun> {
    let page = platform.event_runs(caller, event, page).await?;
    Ok(Json(Paged::new(
        page,
        |found| cursor(&found.run.id),
        ListenerRun::from,
    )))
}

/// Lists the deliveries of an event of a source
///
/// Those to webhooks that the caller may see, newest first, as long as they are kept, also after the event has left the
/// log. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/events/{event_id}/deliveries",
    operation_id = "list_source_event_deliveries",
    tag = "Events",
    params(("id" = id::Source, Path), ("event_id" = id::Event, Path), Pages, DeliveryRequest),
    responses((status = 200, description = "A page of deliveries.", body = Paged<Delivery>), failure::NotFound),
)]
pub(crate) async fn source_event_deliveries(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<SourceId>,
    Paging(page): Paging<DeliveryId>,
    Params(request): Params<DeliveryRequest>,
) -> PageReply<Delivery> {
    let (found, total) = platform.event_deliveries(&caller, &event, &page).await?;
    Ok(Json(shown(found, total, &page, request.expands_event())))
}

/// Lists the deliveries of an event of a workflow
///
/// Those to webhooks that the caller may see, newest first, as long as they are kept, also after the event has left the
/// log. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/events/{event_id}/deliveries",
    operation_id = "list_workflow_event_deliveries",
    tag = "Events",
    params(("id" = id::Workflow, Path), ("event_id" = id::Event, Path), Pages, DeliveryRequest),
    responses((status = 200, description = "A page of deliveries.", body = Paged<Delivery>), failure::NotFound),
)]
pub(crate) async fn workflow_event_deliveries(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathEvent { event, .. }: PathEvent<WorkflowId>,
    Paging(page): Paging<DeliveryId>,
    Params(request): Params<DeliveryRequest>,
) -> PageReply<Delivery> {
    let (found, total) = platform.event_deliveries(&caller, &event, &page).await?;
    Ok(Json(shown(found, total, &page, request.expands_event())))
}
