//! `/workflows/{id}/deployments`; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{DeploymentId, WorkflowId};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, PathId, PathText, cursor},
    openapi::failure,
    wire::{Data, Deployment, DeploymentSummary, Paged, id},
};

/// Lists a workflow's deployments
///
/// Oldest first. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/deployments",
    operation_id = "list_workflow_deployments",
    tag = "Workflows",
    params(("id" = id::Workflow, Path), Pages),
    responses((status = 200, description = "A page of deployments.", body = Paged<DeploymentSummary>), failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Paging(page): Paging<DeploymentId>,
) -> PageReply<DeploymentSummary> {
    let deployments = platform.workflow_deployments(&caller, &id, &page).await?;
    Ok(Json(Paged::new(
        deployments,
        |deployment| cursor(&deployment.id),
        DeploymentSummary::from,
    )))
}

/// Shows a deployment of a workflow
///
/// With its steps and blocks as the file has them, but for the values of secret props. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/deployments/{deployment_id}",
    operation_id = "show_workflow_deployment",
    tag = "Workflows",
    params(("id" = id::Workflow, Path), ("deployment_id" = id::Deployment, Path)),
    responses((status = 200, description = "The deployment.", body = Data<Deployment>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText((id, deployment_id)): PathText<(String, String)>,
) -> DataReply<Deployment> {
    let id: WorkflowId = id
        .parse()
        .map_err(|_| PlatformError::not_found("workflow", id))?;
    let deployment_id: DeploymentId = deployment_id
        .parse()
        .map_err(|_| PlatformError::not_found("deployment", deployment_id))?;
    let deployment = platform.workflow_deployment(&caller, &id, Some(&deployment_id));
    data(deployment.await?.into())
}
