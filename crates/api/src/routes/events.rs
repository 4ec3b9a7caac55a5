//! `/sources/{id}/event_summaries`, `/events` and `/logs` (spec "Source and workflow events").

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_app::{EventRange, EventsQuery, default_channels};
use headwater_model::{
    channel::Channel,
    event::Event,
    id::{EmitterId, EventId, SourceId},
    page::Page,
};

use super::{AppState, CallerExtension, PageReply};
use crate::{
    error::ApiError,
    extract::{Paging, Params, PathId, cursor},
    wire::{DeleteEvents, EventSummary, EventsRequest, LogsRequest, Paged},
};

/// `GET /sources/{id}/event_summaries`
pub(crate) async fn summaries(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Paging(page): Paging<EventId>,
    Params(request): Params<EventsRequest>,
) -> PageReply<EventSummary> {
    let channels = default_channels(request.event_name.as_deref());
    let query = EventsQuery { channels, page };
    let page = app.source_events(&caller, &id, &query).await?;
    Ok(Json(shown(page, id, request.expands_event())))
}

/// `GET /sources/{id}/logs`
pub(crate) async fn logs(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Paging(page): Paging<EventId>,
    Params(request): Params<LogsRequest>,
) -> PageReply<EventSummary> {
    let channels = default_channels(Some(Channel::LOGS));
    let query = EventsQuery { channels, page };
    let page = app.source_events(&caller, &id, &query).await?;
    Ok(Json(shown(page, id, request.expands_event())))
}

/// `DELETE /sources/{id}/events`: asynchronous, hence 202.
pub(crate) async fn delete(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<DeleteEvents>,
) -> Result<StatusCode, ApiError> {
    let channels = default_channels(request.event_name.as_deref());
    let range = EventRange {
        start: request.start_id,
        end: request.end_id,
    };
    app.delete_source_events(&caller, &id, channels, range)
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
