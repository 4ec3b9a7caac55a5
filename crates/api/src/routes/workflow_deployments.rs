//! `/workflows/{id}/deployments` and the way back to one of them; not part of Pipedream's API.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{DeploymentId, WorkflowId};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, PathId, PathText, cursor},
    openapi::failure,
    wire::{Data, DeployedWorkflow, Deployment, DeploymentSummary, Paged, RollBackWorkflow, id},
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
    let (id, deployment_id) = parsed(&id, &deployment_id)?;
    let deployment = platform.workflow_deployment(&caller, &id, Some(&deployment_id));
    data(deployment.await?.into())
}

/// Shows the files of a deployment of a workflow
///
/// Their texts by their paths. `workflow.yaml` is without the literal values of secret props and the bearer tokens of
/// triggers: `(secret)` stands for each. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/deployments/{deployment_id}/files",
    operation_id = "show_workflow_deployment_files",
    tag = "Workflows",
    params(("id" = id::Workflow, Path), ("deployment_id" = id::Deployment, Path)),
    responses((status = 200, description = "The files; none if they are not kept.", body = Data<BTreeMap<String, String>>), failure::NotFound),
)]
pub(crate) async fn files(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText((id, deployment_id)): PathText<(String, String)>,
) -> DataReply<BTreeMap<String, String>> {
    let (id, deployment_id) = parsed(&id, &deployment_id)?;
    data(
        platform
            .workflow_deployment_files(&caller, &id, &deployment_id)
            .await?,
    )
}

/// Rolls a workflow back
///
/// Deploys the files of a former deployment again, as a new one with the code and packages that its steps had. Its triggers
/// stay on or off as they are; runs that have begun go on with their deployment. A trigger that the present deployment
/// does not have gets a new address. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/workflows/{id}/roll_back",
    operation_id = "roll_back_workflow",
    tag = "Workflows",
    params(("id" = id::Workflow, Path)),
    request_body = RollBackWorkflow,
    responses((status = 200, description = "The workflow.", body = Data<DeployedWorkflow>), failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn roll_back(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Params(request): Params<RollBackWorkflow>,
) -> DataReply<DeployedWorkflow> {
    let rolled_back = platform.roll_back_workflow(&caller, &id, &request.deployment_id);
    data(rolled_back.await?.into())
}

fn parsed(id: &str, deployment_id: &str) -> Result<(WorkflowId, DeploymentId), PlatformError> {
    let parsed_id = id.parse();
    let parsed_deployment = deployment_id.parse();
    Ok((
        parsed_id.map_err(|_| PlatformError::not_found("workflow", id))?,
        parsed_deployment.map_err(|_| PlatformError::not_found("deployment", deployment_id))?,
    ))
}
