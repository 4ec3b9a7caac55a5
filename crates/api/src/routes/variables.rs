//! `/variables`, not part of Pipedream's API.

use axum::{
    extract::{Extension, State},
    http::StatusCode,
};

use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::{Params, PathText},
    openapi::failure,
    wire::{Data, SetVariable, Variable, WorkspaceScope},
};

/// Lists the variables
///
/// Those that steps of workflows see as `process.env`, of the caller or of a workspace, by name. Never with their values.
#[utoipa::path(
    get,
    path = "/variables",
    operation_id = "list_variables",
    tag = "Workflows",
    params(WorkspaceScope),
    responses((status = 200, description = "All variables.", body = Data<Vec<Variable>>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(scope): Params<WorkspaceScope>,
) -> DataReply<Vec<Variable>> {
    let variables = platform.variables(&caller, scope.workspace_id()).await?;
    data(variables.into_iter().map(Variable::from).collect())
}

/// Sets a variable
///
/// It is encrypted. Steps that begin from now on see it.
#[utoipa::path(
    put,
    path = "/variables/{name}",
    operation_id = "set_variable",
    tag = "Workflows",
    params(("name" = String, Path)),
    request_body = SetVariable,
    responses((status = 200, description = "The variable.", body = Data<Variable>), failure::Forbidden, failure::NotFound, failure::Unprocessable),
)]
pub(crate) async fn set(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(request): Params<SetVariable>,
) -> DataReply<Variable> {
    let workspace_id = request.workspace_id();
    // Unlike other texts, a variable may be empty.
    let missing = || PlatformError::invalid("value", "`value` is required");
    let value = request.value.ok_or_else(missing)?;
    let set = platform.set_variable(&caller, workspace_id, &name, &value);
    data(set.await?.into())
}

/// Deletes a variable
#[utoipa::path(
    delete,
    path = "/variables/{name}",
    operation_id = "delete_variable",
    tag = "Workflows",
    params(("name" = String, Path), WorkspaceScope),
    responses((status = 204, description = "The variable is deleted."), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(scope): Params<WorkspaceScope>,
) -> Result<StatusCode, ApiError> {
    platform
        .delete_variable(&caller, scope.workspace_id(), &name)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
