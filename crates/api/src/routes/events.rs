//! `/sources/{id}/event_summaries`, `/events` and `/logs`.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::{
    channel::Channel,
    event::Event,
    id::{EmitterId, EventId, SourceId},
    page::Page,
};
use headwater_platform::{EventRange, EventsQuery, default_channels};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{ChannelRequest, Data, DeleteEvents, EventSummary, EventsRequest, OpenLog, Paged, id},
};

/// Lists a source's events
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/sources/{id}/event_summaries",
    operation_id = "list_source_events",
    tag = "Events",
    params(("id" = id::Source, Path), Pages, EventsRequest),
    responses((status = 200, description = "A page of events.", body = Paged<EventSummary>), failure::NotFound),
)]
pub(crate) async fn summaries(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Paging(page): Paging<EventId>,
    Params(request): Params<EventsRequest>,
) -> PageReply<EventSummary> {
    let channels = default_channels(request.event_name.as_deref());
    let query = EventsQuery { channels, page };
    let page = platform.source_events(&caller, &id, &query).await?;
    Ok(Json(shown(page, id, request.expands_event())))
}

/// Lists a source's log
///
/// The events of its channel `$logs`, newest first. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/logs",
    operation_id = "list_source_logs",
    tag = "Events",
    params(("id" = id::Source, Path), Pages, ChannelRequest),
    responses((status = 200, description = "A page of log lines.", body = Paged<EventSummary>), failure::NotFound),
)]
pub(crate) async fn logs(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Paging(page): Paging<EventId>,
    Params(request): Params<ChannelRequest>,
) -> PageReply<EventSummary> {
    let channels = default_channels(Some(Channel::LOGS));
    let query = EventsQuery { channels, page };
    let page = platform.source_events(&caller, &id, &query).await?;
    Ok(Json(shown(page, id, request.expands_event())))
}

/// Shows the log lines of runs under way
///
/// Those that each run has logged since its last commit. They are events of `$logs` when they are committed, after the run
/// has ended or has sent its response; between its end and the commit they are in neither. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/logs/open",
    operation_id = "show_open_source_log",
    tag = "Events",
    params(("id" = id::Source, Path)),
    responses((status = 200, description = "The runs that have logged something, in the order in which they were queued.", body = Data<Vec<OpenLog>>), failure::NotFound),
)]
pub(crate) async fn open_log(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
) -> DataReply<Vec<OpenLog>> {
    let logs = platform.open_source_log(&caller, &id).await?;
    data(logs.into_iter().map(OpenLog::from).collect())
}

/// Deletes events of a source
///
/// All of them, or a range that includes both ends; they are gone from listings at once.
#[utoipa::path(
    delete,
    path = "/sources/{id}/events",
    operation_id = "delete_source_events",
    tag = "Events",
    params(("id" = id::Source, Path), DeleteEvents),
    responses((status = 202, description = "They are deleted."), failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<DeleteEvents>,
) -> Result<StatusCode, ApiError> {
    let channels = default_channels(request.event_name.as_deref());
    let range = EventRange {
        start: request.start_id,
        end: request.end_id,
    };
    platform
        .delete_source_events(&caller, &id, channels, range)
        .await?;
    Ok(StatusCode::ACCEPTED)
}

fn shown(page: Page<Event>, id: SourceId, expands_event: bool) -> Paged<EventSummary> {
    let emitter_id = EmitterId::from(id);
    Paged::new(
        page,
        |event| cursor(&event.id),
        |event| EventSummary::new(event, emitter_id.clone(), expands_event),
    )
}
