//! `/workflows/{id}/runs`, and what can be done with a workflow's run; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::{PlatformError, RunReplay, WaitAnswer};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{
        Data, Paged, Replay, ReplayRun, ResumeRun, Resumed, RunSummary, WorkflowRunsRequest, id,
    },
};

/// Lists a workflow's runs
///
/// Newest first: those that have ended, those that have not, or those with one status, of which a page finds those among
/// the next 10,000. With `status`, `total_count` may include runs with others. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/runs",
    operation_id = "list_workflow_runs",
    tag = "Workflows",
    params(("id" = id::Workflow, Path), Pages, WorkflowRunsRequest),
    responses((status = 200, description = "A page of runs.", body = Paged<RunSummary>), failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    Paging(page): Paging<InvocationId>,
    Params(request): Params<WorkflowRunsRequest>,
) -> PageReply<RunSummary> {
    let runs = platform
        .workflow_runs(&caller, &id, request.into(), page)
        .await?;
    Ok(Json(Paged::new(
        runs,
        |run| cursor(&run.id),
        RunSummary::from,
    )))
}

/// Replays a run of a workflow
///
/// Starts a new run with the event of one that has ended, from its beginning or from a step. Not part of
/// Pipedream's API.
#[utoipa::path(
    post,
    path = "/runs/{id}/replay",
    operation_id = "replay_run",
    tag = "Workflows",
    params(("id" = id::Invocation, Path)),
    request_body = ReplayRun,
    responses((status = 200, description = "The new run, or what it would skip.", body = Data<Replay>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn replay(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<InvocationId>,
    Params(request): Params<ReplayRun>,
) -> DataReply<Replay> {
    let is_dry = request.is_dry();
    let request = RunReplay::from(request);
    let (started, plan) = match is_dry {
        true => (None, platform.replay_plan(&caller, &id, &request).await?),
        false => {
            let (started, plan) = platform.replay_run(&caller, &id, &request).await?;
            (Some(started), plan)
        }
    };
    data(Replay::new(started, plan))
}

/// Cancels a run of a workflow
///
/// Steps at work come to their end, waits end, and nothing further begins. A run that has ended stays as it is. Not part
/// of Pipedream's API.
#[utoipa::path(
    post,
    path = "/runs/{id}/cancel",
    operation_id = "cancel_run",
    tag = "Workflows",
    params(("id" = id::Invocation, Path)),
    responses((status = 204, description = "It is cancelled, or had ended."), failure::NotFound),
)]
pub(crate) async fn cancel(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<InvocationId>,
) -> Result<StatusCode, ApiError> {
    platform.cancel_run(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Resumes a run of a workflow
///
/// Lets a run that waits go on, as a request at its `resume_url` does. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/runs/{id}/resume",
    operation_id = "resume_run",
    tag = "Workflows",
    params(("id" = id::Invocation, Path)),
    request_body = ResumeRun,
    responses((status = 200, description = "The run goes on.", body = Data<Resumed>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn resume(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<InvocationId>,
    Params(request): Params<ResumeRun>,
) -> DataReply<Resumed> {
    let refused = match platform.resume_run(&caller, &id, &request.into()).await? {
        WaitAnswer::Taken => return data(Resumed { taken: true }),
        WaitAnswer::Before => "was answered before, or its wait is over; look at its waits again",
        WaitAnswer::Ended => "has ended; replay it to do it again",
    };
    Err(PlatformError::Conflict(format!("run `{id}` {refused}")).into())
}
