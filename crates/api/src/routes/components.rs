//! `/components` (spec "Components").

use axum::extract::{Extension, Path, State};
use headwater_app::{AppError, ComponentRef};

use super::{AppState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::Params,
    openapi::failure,
    wire::{
        ActionReport, CallRequest, Component, ComponentProps, ComponentScope, Data, OptionsRequest,
        PropOptions, SaveComponent,
    },
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

/// Computes the options of a prop
///
/// Calls the prop's `options` method with the values configured so far. Static options are told the
/// same way (spec "Component model: props", Dynamic options). An extension.
#[utoipa::path(
    post,
    path = "/v1/components/{reference}/options",
    operation_id = "list_prop_options",
    tag = "Components",
    params(("reference" = String, Path, description = "The component's `key` or id.")),
    request_body = OptionsRequest,
    responses((status = 200, description = "A page of options.", body = Data<PropOptions>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn options(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Path(reference): Path<String>,
    Params(request): Params<OptionsRequest>,
) -> DataReply<PropOptions> {
    let (target, query) = request.into_parts(&reference);
    data(app.prop_options(&caller, &target, query).await?.into())
}

/// Computes the props of a component
///
/// Its own props, and those that `additionalProps` returns for the values configured so far, which
/// replace whatever it returned before (spec "Component model: props", Dynamic props). An extension.
#[utoipa::path(
    post,
    path = "/v1/components/{reference}/props",
    operation_id = "list_component_props",
    tag = "Components",
    params(("reference" = String, Path, description = "The component's `key` or id.")),
    request_body = CallRequest,
    responses((status = 200, description = "All props, in order.", body = Data<ComponentProps>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn props(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Path(reference): Path<String>,
    Params(request): Params<CallRequest>,
) -> DataReply<ComponentProps> {
    let target = request.target(&reference);
    let configurable_props = app.component_props(&caller, &target).await?;
    data(configurable_props.into())
}

/// Runs an action once
///
/// Alone, outside of any workflow: `$.send`, `$.respond` and what pauses a workflow are errors. What the
/// action throws is its outcome, not a failure of the request. An extension.
#[utoipa::path(
    post,
    path = "/v1/components/{reference}/run",
    operation_id = "run_action",
    tag = "Components",
    params(("reference" = String, Path, description = "The action's `key` or id.")),
    request_body = CallRequest,
    responses((status = 200, description = "How the run went.", body = Data<ActionReport>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn run(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Path(reference): Path<String>,
    Params(request): Params<CallRequest>,
) -> DataReply<ActionReport> {
    let target = request.target(&reference);
    data(app.run_action(&caller, &target).await?.into())
}
