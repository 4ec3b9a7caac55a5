//! `/sources/{id}/deployments` and the way back to one of them; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{DeploymentId, SourceId};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, PathId, PathText, cursor},
    openapi::failure,
    wire::{Data, Paged, RollBackSource, Source, SourceDeployment, SourceDeploymentSummary, id},
};

/// Lists a source's deployments
///
/// Oldest first: its deployment and each update of code, values or isolation, of which the newest 20 are kept. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/deployments",
    operation_id = "list_source_deployments",
    tag = "Sources",
    params(("id" = id::Source, Path), Pages),
    responses((status = 200, description = "A page of deployments.", body = Paged<SourceDeploymentSummary>), failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Paging(page): Paging<DeploymentId>,
) -> PageReply<SourceDeploymentSummary> {
    let deployments = platform.source_deployments(&caller, &id, &page).await?;
    Ok(Json(Paged::new(
        deployments,
        |view| cursor(&view.deployment.id),
        SourceDeploymentSummary::from,
    )))
}

/// Shows a deployment of a source
///
/// With its values, except secret ones, and its code. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/deployments/{deployment_id}",
    operation_id = "show_source_deployment",
    tag = "Sources",
    params(("id" = id::Source, Path), ("deployment_id" = id::Deployment, Path)),
    responses((status = 200, description = "The deployment.", body = Data<SourceDeployment>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText((id, deployment_id)): PathText<(String, String)>,
) -> DataReply<SourceDeployment> {
    let id: SourceId = id
        .parse()
        .map_err(|_| PlatformError::not_found("source", id))?;
    let deployment_id: DeploymentId = deployment_id
        .parse()
        .map_err(|_| PlatformError::not_found("deployment", deployment_id))?;
    let deployment = platform.source_deployment(&caller, &id, &deployment_id);
    data(deployment.await?.into())
}

/// Rolls a source back
///
/// Updates it to the code, the values, secret ones included, and the isolation of a former deployment, as `PATCH` would:
/// `deactivate` and `activate` run, and if that fails, the present version goes on. Its name and its state stay. Becomes a
/// new deployment. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/sources/{id}/roll_back",
    operation_id = "roll_back_source",
    tag = "Sources",
    params(("id" = id::Source, Path)),
    request_body = RollBackSource,
    responses((status = 200, description = "The source.", body = Data<Source>), failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn roll_back(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<RollBackSource>,
) -> DataReply<Source> {
    let rolled_back = platform.roll_back_source(&caller, &id, &request.deployment_id);
    data(rolled_back.await?.into())
}
