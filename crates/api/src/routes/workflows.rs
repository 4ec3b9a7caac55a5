//! `/workflows/{id}` readers. This node has no workflows yet, so no id names one.

use headwater_model::id::{EventId, WorkflowId};
use headwater_platform::PlatformError;

use crate::{
    error::ApiError,
    extract::{Pages, Paging, PathId},
    openapi::failure,
    wire::{EventSummary, EventsRequest, Paged, id},
};

/// Lists a workflow's events
///
/// This node has no workflows yet, so no id names one.
#[utoipa::path(
    get,
    path = "/workflows/{id}/event_summaries",
    operation_id = "list_workflow_events",
    tag = "Events",
    params(("id" = id::Workflow, Path), Pages, EventsRequest),
    responses((status = 200, description = "A page of events.", body = Paged<EventSummary>), failure::NotFound),
)]
pub(crate) async fn events(PathId(id): PathId<WorkflowId>, _: Paging<EventId>) -> ApiError {
    PlatformError::not_found("workflow", id).into()
}

/// Lists a workflow's errors
///
/// This node has no workflows yet, so no id names one.
#[utoipa::path(
    get,
    path = "/workflows/{id}/$errors/event_summaries",
    operation_id = "list_workflow_errors",
    tag = "Events",
    params(("id" = id::Workflow, Path), Pages, EventsRequest),
    responses((status = 200, description = "A page of errors.", body = Paged<EventSummary>), failure::NotFound),
)]
pub(crate) async fn errors(PathId(id): PathId<WorkflowId>, _: Paging<EventId>) -> ApiError {
    PlatformError::not_found("workflow", id).into()
}
