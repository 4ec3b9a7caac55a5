//! `/components`.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::ComponentId;
use headwater_platform::ComponentRef;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, PathText, cursor},
    near_miss,
    openapi::failure,
    wire::{
        ActionReport, CallRequest, Component, ComponentProps, ComponentSummary, Data,
        KeptComponent, ListComponents, OptionsRequest, Paged, PropOptions, PropsRequest,
        SaveComponent, TrialReport, TrialRequest, WorkspaceScope, id,
    },
};

/// Saves a component
///
/// Builds and evaluates the code in the sandbox; code that does not evaluate is refused. The same code again is the same
/// component.
#[utoipa::path(
    post,
    path = "/components",
    operation_id = "save_component",
    tag = "Components",
    request_body = SaveComponent,
    responses((status = 200, description = "The saved component.", body = Data<KeptComponent>), failure::Forbidden, failure::NotFound, failure::Unprocessable),
)]
pub(crate) async fn save(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<SaveComponent>,
) -> DataReply<KeptComponent> {
    let (input, workspace_id) = request.into_parts();
    data(
        platform
            .save_component(&caller, &input, workspace_id)
            .await?
            .into(),
    )
}

/// Shows a saved component
///
/// By its id, or by the key that its code gives it: the caller's of that key with the highest semantic
/// version (the last saved, if that has none), unless the last saved is published; else the published
/// one of the highest version. `key@version` is a published version.
#[utoipa::path(
    get,
    path = "/components/{reference}",
    operation_id = "show_component",
    tag = "Components",
    params(("reference" = String, Path, description = "The component's `key` or id.", example = "sc_0DkqLtSyJ4yOMpWg5tVxNq"), WorkspaceScope),
    responses((status = 200, description = "The saved component.", body = Data<Component>), failure::Forbidden, failure::NotFound, failure::Unprocessable),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(reference): PathText<String>,
    Params(scope): Params<WorkspaceScope>,
) -> DataReply<Component> {
    let found = platform
        .component(
            &caller,
            &ComponentRef::parse(&reference),
            scope.workspace_id(),
        )
        .await;
    let component = found.map_err(|error| near_miss::component(&reference, error))?;
    data(component.into())
}

/// Deletes a saved component
///
/// One that is published, or that a source or workflow has or had, stays: that is a conflict. Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/components/{reference}",
    operation_id = "delete_component",
    tag = "Components",
    params(("reference" = id::Component, Path, description = "The component's id.")),
    responses((status = 204, description = "The component is deleted."), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<ComponentId>,
) -> Result<StatusCode, ApiError> {
    platform.delete_component(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the components that can be deployed
///
/// Published components and the caller's own, one per key: the one that `GET /components/{reference}`
/// finds by it. In the order of keys; components without a key come last, in creation order. Not part
/// of Pipedream's API.
#[utoipa::path(
    get,
    path = "/components",
    operation_id = "list_components",
    tag = "Components",
    params(Pages, ListComponents),
    responses((status = 200, description = "A page of components, without their code and props.", body = Paged<ComponentSummary>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<ComponentId>,
    Params(request): Params<ListComponents>,
) -> PageReply<ComponentSummary> {
    let (filter, workspace_id) = request.into_parts();
    let page = platform
        .components(&caller, &filter, workspace_id, &page)
        .await?;
    Ok(Json(Paged::new(
        page,
        |component| cursor(&component.id),
        ComponentSummary::from,
    )))
}

/// Computes the options of a prop
///
/// Calls the prop's `options` method with the values configured so far. Static options are returned the
/// same way. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/components/{reference}/options",
    operation_id = "list_prop_options",
    tag = "Components",
    params(("reference" = String, Path, description = "The component's `key` or id.")),
    request_body = OptionsRequest,
    responses((status = 200, description = "A page of options.", body = Data<PropOptions>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn options(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(reference): PathText<String>,
    Params(request): Params<OptionsRequest>,
) -> DataReply<PropOptions> {
    let (target, query) = request.into_parts(&reference);
    data(platform.prop_options(&caller, &target, query).await?.into())
}

/// Computes the props of a component
///
/// Its own props, and those that `additionalProps` returns for the values configured so far, which
/// replace those that it returned before. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/components/{reference}/props",
    operation_id = "list_component_props",
    tag = "Components",
    params(("reference" = String, Path, description = "The component's `key` or id.")),
    request_body = PropsRequest,
    responses((status = 200, description = "All props, in order.", body = Data<ComponentProps>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn props(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(reference): PathText<String>,
    Params(request): Params<PropsRequest>,
) -> DataReply<ComponentProps> {
    let target = request.target(&reference);
    let configurable_props = platform.component_props(&caller, &target).await?;
    data(configurable_props.into())
}

/// Runs an action once
///
/// Runs outside of any workflow: `$.send`, `$.respond` and calls that pause a workflow are errors. An
/// error of the action is its outcome, not a failure of the request. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/components/{reference}/run",
    operation_id = "run_action",
    tag = "Components",
    params(("reference" = String, Path, description = "The action's `key` or id.")),
    request_body = CallRequest,
    responses((status = 200, description = "The result of the run.", body = Data<ActionReport>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn run(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(reference): PathText<String>,
    Params(request): Params<CallRequest>,
) -> DataReply<ActionReport> {
    let target = request.target(&reference);
    data(platform.run_action(&caller, &target).await?.into())
}

/// Runs a source's code once without deploying it
///
/// With the values that it would be deployed with, in the sandbox and under the limits of every run. Its events are in the
/// answer and appended nowhere; its key-value map begins empty and is not kept; its hooks do not run. Everything that the
/// code does outside happens, writes to data stores included. An error of the code is its outcome, not a failure of the
/// request. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/components/{reference}/try",
    operation_id = "try_source",
    tag = "Components",
    params(("reference" = String, Path, description = "The source's `key` or id as a component.")),
    request_body = TrialRequest,
    responses((status = 200, description = "The result of the run.", body = Data<TrialReport>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn try_source(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(reference): PathText<String>,
    Params(request): Params<TrialRequest>,
) -> DataReply<TrialReport> {
    let (target, event) = request.target(&reference);
    data(platform.try_source(&caller, &target, event).await?.into())
}
