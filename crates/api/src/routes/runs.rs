//! `/sources/{id}/runs` and `/runs/{id}`; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{InvocationId, SourceId};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{Data, Paged, Run, RunDetail, RunsRequest, id},
};

/// Lists a source's runs
///
/// Newest first: every run that has ended, hooks included, whether it emitted, failed or did neither.
/// Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/runs",
    operation_id = "list_source_runs",
    tag = "Runs",
    params(("id" = id::Source, Path), Pages, RunsRequest),
    responses((status = 200, description = "A page of runs.", body = Paged<Run>), failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Paging(page): Paging<InvocationId>,
    Params(request): Params<RunsRequest>,
) -> PageReply<Run> {
    let page = platform
        .source_runs(&caller, &id, request.into(), &page)
        .await?;
    Ok(Json(Paged::new(page, |run| cursor(&run.id), Run::from)))
}

/// Shows a run
///
/// With its events, their deliveries, its log and its errors. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/runs/{id}",
    operation_id = "show_run",
    tag = "Runs",
    params(("id" = id::Invocation, Path)),
    responses((status = 200, description = "The run.", body = Data<RunDetail>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<InvocationId>,
) -> DataReply<RunDetail> {
    data(platform.run(&caller, &id).await?.into())
}
