//! `/sources/{id}/runs` and `/runs/{id}`; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{InvocationId, SourceId};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{AnyRun, Data, Paged, Run, RunsRequest, id},
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
    let show = match request.shows_dropped() {
        true => Run::with_dropped,
        false => Run::from,
    };
    let page = platform
        .source_runs(&caller, &id, request.into(), &page)
        .await?;
    Ok(Json(Paged::new(page, |run| cursor(&run.id), show)))
}

/// Shows a run
///
/// That of a source with its events, their deliveries, its log and its errors; that of a workflow with its steps, waits and
/// messages, also if it has not ended. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/runs/{id}",
    operation_id = "show_run",
    tag = "Runs",
    params(("id" = id::Invocation, Path)),
    responses((status = 200, description = "The run.", body = Data<AnyRun>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<InvocationId>,
) -> DataReply<AnyRun> {
    match platform.run(&caller, &id).await {
        Ok(run) => data(AnyRun::Source(run.into())),
        Err(PlatformError::NotFound { .. }) => {
            let run = platform.workflow_run(&caller, &id).await?;
            data(AnyRun::Workflow(run.into()))
        }
        Err(error) => Err(error.into()),
    }
}
