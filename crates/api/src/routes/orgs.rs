//! `/orgs/{id}`: the things of a workspace.

use axum::extract::{Extension, State};
use headwater_model::id::{SourceId, WorkspaceId};

use super::{ApiState, CallerExtension, PageReply, sources};
use crate::{
    extract::{Pages, Paging, Params, PathId},
    openapi::failure,
    wire::{Paged, Source, WorkspaceSourcesRequest, id},
};

/// Lists a workspace's sources
///
/// In creation order.
#[utoipa::path(
    get,
    path = "/orgs/{id}/sources",
    operation_id = "list_workspace_sources",
    tag = "Sources",
    params(("id" = id::Workspace, Path), Pages, WorkspaceSourcesRequest),
    responses((status = 200, description = "A page of sources.", body = Paged<Source>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn sources(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
    Paging(page): Paging<SourceId>,
    Params(request): Params<WorkspaceSourcesRequest>,
) -> PageReply<Source> {
    let page = platform.sources(&caller, Some(id), request.wanted(), &page);
    sources::shown(&platform, page.await?, request.expands_health()).await
}
