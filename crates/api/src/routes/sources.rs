//! `/sources`. Reading, patching and running one are not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::{id::SourceId, page::Page};
use headwater_platform::{Platform, SourceView};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Params, PathId, cursor},
    openapi::failure,
    wire::{
        Data, DeploySource, Paged, RunReport, RunSource, Source, SourceRequest, UpdateSource, id,
    },
};

/// Deploys a component as a new source
///
/// Builds the code, runs its `deploy` and `activate` hooks and starts its timers and endpoints. All or
/// nothing: if something throws, there is no source.
#[utoipa::path(
    post,
    path = "/sources",
    operation_id = "deploy_source",
    tag = "Sources",
    request_body = DeploySource,
    responses((status = 200, description = "The source.", body = Data<Source>), failure::Forbidden, failure::NotFound, failure::Unprocessable),
)]
pub(crate) async fn deploy(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<DeploySource>,
) -> DataReply<Source> {
    let deployed = platform.deploy_source(&caller, request.into());
    data(deployed.await?.into())
}

/// Shows a source
///
/// Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}",
    operation_id = "show_source",
    tag = "Sources",
    params(("id" = id::Source, Path), SourceRequest),
    responses((status = 200, description = "The source.", body = Data<Source>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<SourceRequest>,
) -> DataReply<Source> {
    let source = platform.source(&caller, &id).await?;
    let mut health = match request.expands_health() {
        true => {
            let one = std::slice::from_ref(&source);
            platform.sources_health(one).await?
        }
        false => Vec::new(),
    };
    data(Source::from(source).with_health(health.pop()))
}

/// A page of sources, with their health if that is to be shown.
pub(super) async fn shown(
    platform: &Platform,
    page: Page<SourceView>,
    with_health: bool,
) -> PageReply<Source> {
    let mut health = match with_health {
        true => platform.sources_health(&page.items).await?,
        false => Vec::new(),
    }
    .into_iter();
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.source.id),
        |view| Source::from(view).with_health(health.next()),
    )))
}

/// Updates a source
///
/// Runs `deactivate`, changes code, name and props, and runs `activate`. An update that fails leaves
/// the former version running. An absent `active` means true.
#[utoipa::path(
    put,
    path = "/sources/{id}",
    operation_id = "put_source",
    tag = "Sources",
    params(("id" = id::Source, Path)),
    request_body = UpdateSource,
    responses((status = 200, description = "The source.", body = Data<Source>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn put(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<UpdateSource>,
) -> DataReply<Source> {
    let request = request.put();
    let updated = platform.update_source(&caller, &id, request);
    data(updated.await?.into())
}

/// Changes a source
///
/// Like `PUT`, but absent fields keep their values. Not part of Pipedream's API.
#[utoipa::path(
    patch,
    path = "/sources/{id}",
    operation_id = "patch_source",
    tag = "Sources",
    params(("id" = id::Source, Path)),
    request_body = UpdateSource,
    responses((status = 200, description = "The source.", body = Data<Source>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn patch(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<UpdateSource>,
) -> DataReply<Source> {
    let request = request.patch();
    let updated = platform.update_source(&caller, &id, request);
    data(updated.await?.into())
}

/// Deletes a source
///
/// Runs its `deactivate` hook, and deletes even if that throws.
#[utoipa::path(
    delete,
    path = "/sources/{id}",
    operation_id = "delete_source",
    tag = "Sources",
    params(("id" = id::Source, Path)),
    responses((status = 204, description = "The source is deleted."), failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
) -> Result<StatusCode, ApiError> {
    platform.delete_source(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Runs a source once
///
/// Answers when the run is committed. A run that throws is a report too. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/sources/{id}/run",
    operation_id = "run_source",
    tag = "Sources",
    params(("id" = id::Source, Path)),
    request_body = RunSource,
    responses((status = 200, description = "The result of the run.", body = Data<RunReport>), failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn run(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<RunSource>,
) -> DataReply<RunReport> {
    data(
        platform
            .run_source(&caller, &id, request.event)
            .await?
            .into(),
    )
}
