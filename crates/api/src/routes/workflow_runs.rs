//! `/workflows/{id}/runs`, and what can be done with a run; not part of Pipedream's API.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::{Caller, Platform, PlatformError, SourceVersion, WaitAnswer};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{
        AnyReplay, Data, Paged, Replay, ReplayRun, ResumeRun, Resumed, RunSummary, SourceReplay,
        WorkflowRunsRequest, id,
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

/// Replays a run
///
/// Of a workflow, it starts a new run with the event of one that has ended, from its beginning or from a step. Of a source,
/// it answers when the run has ended: on the code of now it is a run by hand, and on the code of then a trial as of
/// `POST /components/{reference}/try`, which begins with a copy of the source's key-value map. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/runs/{id}/replay",
    operation_id = "replay_run",
    tag = "Runs",
    params(("id" = id::Invocation, Path)),
    request_body = ReplayRun,
    responses((status = 200, description = "The replay, or what it would be.", body = Data<AnyReplay>), failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn replay(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<InvocationId>,
    Params(request): Params<ReplayRun>,
) -> DataReply<AnyReplay> {
    match platform.source_replay(&caller, &id).await {
        Ok(found) => {
            let replay = of_source(&platform, &caller, &id, found, request).await?;
            data(AnyReplay::Source(Box::new(replay)))
        }
        Err(PlatformError::NotFound { .. }) => data(AnyReplay::Workflow(
            of_workflow(&platform, &caller, &id, request).await?,
        )),
        Err(error) => Err(error.into()),
    }
}

async fn of_source(
    platform: &Arc<Platform>,
    caller: &Caller,
    id: &InvocationId,
    found: headwater_platform::SourceReplay,
    request: ReplayRun,
) -> Result<SourceReplay, PlatformError> {
    let is_dry = request.is_dry();
    let (version, event) = request.of_source()?;
    let replay = SourceReplay::new(found, version, event.clone());
    Ok(match version {
        _ if is_dry => replay,
        SourceVersion::Now => replay.with_run(platform.replay_source_run(caller, id, event).await?),
        SourceVersion::Then => replay.with_trial(platform.try_source_run(caller, id, event).await?),
    })
}

async fn of_workflow(
    platform: &Platform,
    caller: &Caller,
    id: &InvocationId,
    request: ReplayRun,
) -> Result<Replay, PlatformError> {
    let is_dry = request.is_dry();
    let request = request.of_workflow()?;
    Ok(match is_dry {
        true => Replay::new(None, platform.replay_plan(caller, id, &request).await?),
        false => {
            let (started, plan) = platform.replay_run(caller, id, &request).await?;
            Replay::new(Some(started), plan)
        }
    })
}

/// Cancels a run
///
/// Of a workflow, steps at work come to their end, waits end, and nothing further begins. Of a source, a run that waits ends
/// without having begun, and one under way ends with its worker, as at its time limit: its events and its writes to
/// `$.service.db` since its `$respond` count for nothing, and other runs of that worker start again; requests that it has sent
/// and records that it wrote to data stores stay. A run that has ended stays as it is. Hooks, and requests that wait for a
/// `$respond`, are not found before they end. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/runs/{id}/cancel",
    operation_id = "cancel_run",
    tag = "Runs",
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
