//! `/event_views`, not part of Pipedream's API.

use axum::{
    extract::{Extension, State},
    http::StatusCode,
};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::{Params, PathText},
    openapi::failure,
    wire::{Data, EventView, SetEventView, WorkspaceScope},
};

/// Lists the views of events
///
/// Searches of events that have a name, of the caller or of a workspace, by name; at most 200.
#[utoipa::path(
    get,
    path = "/event_views",
    operation_id = "list_event_views",
    tag = "Events",
    params(WorkspaceScope),
    responses((status = 200, description = "All views.", body = Data<Vec<EventView>>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(scope): Params<WorkspaceScope>,
) -> DataReply<Vec<EventView>> {
    let views = platform.event_views(&caller, scope.workspace_id()).await?;
    data(views.into_iter().map(EventView::from).collect())
}

/// Names a search of events
///
/// A view of that name is replaced.
#[utoipa::path(
    put,
    path = "/event_views/{name}",
    operation_id = "set_event_view",
    tag = "Events",
    params(("name" = String, Path)),
    request_body = SetEventView,
    responses((status = 200, description = "The view.", body = Data<EventView>), failure::Forbidden, failure::NotFound, failure::Conflict),
)]
pub(crate) async fn set(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(request): Params<SetEventView>,
) -> DataReply<EventView> {
    let (search, times) = request.search()?;
    let view = platform.set_event_view(&caller, &name, search, times);
    data(view.await?.into())
}

/// Deletes a view of events
#[utoipa::path(
    delete,
    path = "/event_views/{name}",
    operation_id = "delete_event_view",
    tag = "Events",
    params(("name" = String, Path), WorkspaceScope),
    responses((status = 204, description = "The view is deleted."), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(scope): Params<WorkspaceScope>,
) -> Result<StatusCode, ApiError> {
    platform
        .delete_event_view(&caller, scope.workspace_id(), &name)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
