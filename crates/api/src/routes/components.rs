//! `/components` (spec "Components").

use axum::extract::{Extension, Path, State};
use headwater_app::{AppError, ComponentRef};

use super::{AppState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::Params,
    openapi::failure,
    wire::{Component, ComponentScope, Data, SaveComponent},
};

/// Saves a component
///
/// The code is built and evaluated in the sandbox; what does not evaluate is refused (spec
/// "Components").
#[utoipa::path(
    post,
    path = "/v1/components",
    operation_id = "save_component",
    tag = "Components",
    request_body = SaveComponent,
    responses((status = 200, description = "The saved component.", body = Data<Component>), failure::Forbidden, failure::Unprocessable),
)]
pub(crate) async fn save(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Params(request): Params<SaveComponent>,
) -> DataReply<Component> {
    let (input, workspace_id) = request.into_parts();
    data(
        app.save_component(&caller, &input, workspace_id)
            .await?
            .into(),
    )
}

/// Shows a saved component
///
/// By its id, or by the key that its code gives it (spec "Components").
#[utoipa::path(
    get,
    path = "/v1/components/{reference}",
    operation_id = "show_component",
    tag = "Components",
    params(("reference" = String, Path, description = "The component's `key` or id."), ComponentScope),
    responses((status = 200, description = "The saved component.", body = Data<Component>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn show(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Path(reference): Path<String>,
    Params(scope): Params<ComponentScope>,
) -> DataReply<Component> {
    let reference = ComponentRef::parse(&reference);
    data(
        app.component(&caller, &reference, scope.workspace_id())
            .await?
            .into(),
    )
}

/// Shows a component of the registry
///
/// This node has no registry yet, so no key is in it (spec "Components").
#[utoipa::path(
    get,
    path = "/v1/components/registry/{key}",
    operation_id = "show_registry_component",
    tag = "Components",
    params(("key" = String, Path, description = "The component's globally unique key.")),
    responses((status = 200, description = "The component.", body = Data<Component>), failure::NotFound),
)]
pub(crate) async fn registry(Path(key): Path<String>) -> ApiError {
    AppError::not_found("registry component", key).into()
}
