//! `/workflows`: deploying, showing, changing and running them, and reading their events. Only the latter are part of
//! Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::{
    channel::Channel,
    id::{EventId, WorkflowId},
};
use headwater_platform::{EventsQuery, default_channels};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Folder, Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{
        ChannelRequest, Data, DeployWorkflow, DeployedWorkflow, EventSummary, EventsRequest,
        Finding, Paged, RunWorkflow, SourceRequest, SourcesRequest, StartedRun, UpdateWorkflow,
        Workflow, id,
    },
};

/// Lists the workflows
///
/// Those that the caller deployed first, or those of the given workspace, in creation order. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows",
    operation_id = "list_workflows",
    tag = "Workflows",
    params(Pages, SourcesRequest),
    responses((status = 200, description = "A page of workflows.", body = Paged<Workflow>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<WorkflowId>,
    Params(request): Params<SourcesRequest>,
) -> PageReply<Workflow> {
    let page = platform
        .workflows(&caller, request.workspace_id(), request.wanted(), &page)
        .await?;
    let ids: Vec<WorkflowId> = match request.expands_health() {
        true => page
            .items
            .iter()
            .map(|view| view.workflow.id.clone())
            .collect(),
        false => Vec::new(),
    };
    let mut health = platform.workflows_health(&ids).await?.into_iter();
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.workflow.id),
        |view| Workflow::from(view).with_health(health.next()),
    )))
}

/// Deploys a workflow
///
/// Takes a folder: as JSON, or as a tar archive of its files, plain or with gzip; then `workspace_id` is in the query.
/// Builds the code of its steps, deploys the sources of its triggers and starts these. All or nothing: a
/// deployment that fails leaves the former one running. Runs that have begun go on with theirs. Not part of
/// Pipedream's API.
#[utoipa::path(
    post,
    path = "/workflows",
    operation_id = "deploy_workflow",
    tag = "Workflows",
    request_body(content(
        (DeployWorkflow = "application/json"),
        (String = "application/x-tar"),
        (String = "application/gzip"),
    )),
    responses((status = 200, description = "The workflow.", body = Data<DeployedWorkflow>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn deploy(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Folder(request): Folder,
) -> DataReply<DeployedWorkflow> {
    let request = request.into();
    let deployed = platform.deploy_workflow(&caller, request);
    data(deployed.await?.into())
}

/// Checks a workflow
///
/// Takes a folder as a deployment does, and tells the findings that this would have: variables, accounts and mail that the
/// node lacks, and props that do not fit the code of their steps. Builds that code and deploys nothing; the
/// sources of triggers are not looked at. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/workflows/check",
    operation_id = "check_workflow",
    tag = "Workflows",
    request_body(content(
        (DeployWorkflow = "application/json"),
        (String = "application/x-tar"),
        (String = "application/gzip"),
    )),
    responses((status = 200, description = "The findings.", body = Data<Vec<Finding>>), failure::Forbidden, failure::NotFound, failure::Unprocessable),
)]
pub(crate) async fn check(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Folder(request): Folder,
) -> DataReply<Vec<Finding>> {
    let request = request.into();
    let found = platform.check_workflow(&caller, request).await?;
    data(found.into_iter().map(Finding::from).collect())
}

/// Shows a workflow
///
/// Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}",
    operation_id = "show_workflow",
    tag = "Workflows",
    params(("id" = id::Workflow, Path), SourceRequest),
    responses((status = 200, description = "The workflow.", body = Data<Workflow>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Params(request): Params<SourceRequest>,
) -> DataReply<Workflow> {
    let workflow = platform.workflow(&caller, &id).await?;
    let mut health = match request.expands_health() {
        true => platform.workflows_health(std::slice::from_ref(&id)).await?,
        false => Vec::new(),
    };
    data(Workflow::from(workflow).with_health(health.pop()))
}

/// Changes a workflow
///
/// Turns its triggers on or off. Runs that have begun go on. Not part of Pipedream's API.
#[utoipa::path(
    patch,
    path = "/workflows/{id}",
    operation_id = "patch_workflow",
    tag = "Workflows",
    params(("id" = id::Workflow, Path)),
    request_body = UpdateWorkflow,
    responses((status = 200, description = "The workflow.", body = Data<Workflow>), failure::NotFound),
)]
pub(crate) async fn patch(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Params(request): Params<UpdateWorkflow>,
) -> DataReply<Workflow> {
    let update = request.into();
    let updated = platform.update_workflow(&caller, &id, update);
    data(updated.await?.into())
}

/// Deletes a workflow
///
/// With its deployments, runs and events, and the sources that it deployed. Runs that have not ended end without a trace.
/// Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/workflows/{id}",
    operation_id = "delete_workflow",
    tag = "Workflows",
    params(("id" = id::Workflow, Path)),
    responses((status = 204, description = "The workflow is deleted."), failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
) -> Result<StatusCode, ApiError> {
    platform.delete_workflow(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Starts a run of a workflow
///
/// Answers when the run is durable, before it begins. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/workflows/{id}/run",
    operation_id = "run_workflow",
    tag = "Workflows",
    params(("id" = id::Workflow, Path)),
    request_body = RunWorkflow,
    responses((status = 200, description = "The run.", body = Data<StartedRun>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn run(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Params(request): Params<RunWorkflow>,
) -> DataReply<StartedRun> {
    let id = platform.run_workflow(&caller, &id, request.event).await?;
    data(StartedRun { id })
}

/// Lists a workflow's events
///
/// Those that its steps sent with `$.send.emit`, newest first. Emitted data are shown as `raw_event`.
#[utoipa::path(
    get,
    path = "/workflows/{id}/event_summaries",
    operation_id = "list_workflow_events",
    tag = "Events",
    params(("id" = id::Workflow, Path), Pages, EventsRequest),
    responses((status = 200, description = "A page of events.", body = Paged<EventSummary>), failure::NotFound),
)]
pub(crate) async fn events(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Paging(page): Paging<EventId>,
    Params(request): Params<EventsRequest>,
) -> PageReply<EventSummary> {
    let channels = default_channels(request.event_name.as_deref());
    let query = EventsQuery { channels, page };
    let page = platform.workflow_events(&caller, &id, &query).await?;
    let expands = request.expands_event();
    let shown = |event| EventSummary::of_workflow(event, &id, expands);
    Ok(Json(Paged::new(page, |event| cursor(&event.id), shown)))
}

/// Lists a workflow's errors
///
/// The events of its channel `$errors`, one per failed run, newest first.
#[utoipa::path(
    get,
    path = "/workflows/{id}/$errors/event_summaries",
    operation_id = "list_workflow_errors",
    tag = "Events",
    params(("id" = id::Workflow, Path), Pages, ChannelRequest),
    responses((status = 200, description = "A page of errors.", body = Paged<EventSummary>), failure::NotFound),
)]
pub(crate) async fn errors(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Paging(page): Paging<EventId>,
    Params(request): Params<ChannelRequest>,
) -> PageReply<EventSummary> {
    let channels = default_channels(Some(Channel::ERRORS));
    let query = EventsQuery { channels, page };
    let page = platform.workflow_events(&caller, &id, &query).await?;
    let expands = request.expands_event();
    let shown = |event| EventSummary::of_workflow(event, &id, expands);
    Ok(Json(Paged::new(page, |event| cursor(&event.id), shown)))
}
