//! `/orgs/{id}`: what a workspace has.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{SourceId, WorkspaceId};

use super::{AppState, CallerExtension, PageReply};
use crate::{
    extract::{Paging, PathId, cursor},
    wire::{Paged, Source},
};

/// `GET /orgs/{id}/sources`
pub(crate) async fn sources(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
    Paging(page): Paging<SourceId>,
) -> PageReply<Source> {
    let page = app.workspace_sources(&caller, id, &page).await?;
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.source.id),
        Source::from,
    )))
}
