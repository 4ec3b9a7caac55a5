//! `/runs` of all sources and workflows; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::{
    id::InvocationId,
    page::{Page, Position},
};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, cursor},
    openapi::failure,
    wire::{Data, ListedRun, Paged, RunCounts, RunHour, RunHoursRequest, SearchRuns},
};

/// Lists runs of all sources and workflows
///
/// Those that the caller may see, newest first, whether they have ended or not. Runs that have not ended are listed from
/// when they are queued; those that are not queued, such as answers to requests at endpoints of sources, from their end. A
/// request looks at 10,000 records at most, and at 10,000 runs that have not ended: `total_count` counts no further,
/// and if `page_info.is_cut` is true, the page may be short, and its cursor leads to more. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/runs",
    operation_id = "search_runs",
    tag = "Runs",
    params(Pages, SearchRuns),
    responses((status = 200, description = "A page of runs.", body = Paged<ListedRun>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<InvocationId>,
    Params(request): Params<SearchRuns>,
) -> PageReply<ListedRun> {
    let filter = request.filter()?;
    let found = platform.find_runs(&caller, &filter, &page).await?;
    let counts = platform.count_runs(&caller, &filter).await?;
    let items = Page {
        total_count: counts.total().count,
        items: found.items,
    };
    let shown = Paged::new(items, |entry| cursor(&entry.run.id), ListedRun::from);
    let is_towards_newest = matches!(page.position, Position::Before(_));
    Ok(Json(match found.searched_to {
        Some(id) => shown.cut_at(cursor(&id), is_towards_newest),
        None => shown,
    }))
}

/// Counts runs of all sources and workflows by state
///
/// The same filter as that of the list. Each count goes up to 10,000 runs that were looked at. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/runs/counts",
    operation_id = "count_runs",
    tag = "Runs",
    params(SearchRuns),
    responses((status = 200, description = "The counts.", body = Data<RunCounts>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn counts(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<SearchRuns>,
) -> DataReply<RunCounts> {
    let filter = request.filter()?;
    let counts = platform.count_runs(&caller, &filter).await?;
    data(counts.into())
}

/// Counts runs of the last 24 hours by the hour
///
/// Those that have ended and were queued in that UTC hour, oldest hour first; the last one is the current hour. Runs count
/// whether their records are kept or not, cancelled ones do not. Not part of Pipedream's
/// API.
#[utoipa::path(
    get,
    path = "/runs/hours",
    operation_id = "count_runs_by_hour",
    tag = "Runs",
    params(RunHoursRequest),
    responses((status = 200, description = "The hours.", body = Data<Vec<RunHour>>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn hours(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<RunHoursRequest>,
) -> DataReply<Vec<RunHour>> {
    let workspace_id = request.workspace_id();
    let hours = platform.run_hours(&caller, workspace_id.as_ref()).await?;
    data(hours.into_iter().map(RunHour::from).collect())
}
