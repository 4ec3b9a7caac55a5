//! `/orgs/{id}`: the things of a workspace.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{SourceId, WorkspaceId};

use super::{ApiState, CallerExtension, PageReply};
use crate::{
    extract::{Pages, Paging, PathId, cursor},
    openapi::failure,
    wire::{Paged, Source, id},
};

/// Lists a workspace's sources
///
/// In creation order.
#[utoipa::path(
    get,
    path = "/orgs/{id}/sources",
    operation_id = "list_workspace_sources",
    tag = "Sources",
    params(("id" = id::Workspace, Path), Pages),
    responses((status = 200, description = "A page of sources.", body = Paged<Source>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn sources(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
    Paging(page): Paging<SourceId>,
) -> PageReply<Source> {
    let page = platform.workspace_sources(&caller, id, &page).await?;
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.source.id),
        Source::from,
    )))
}
