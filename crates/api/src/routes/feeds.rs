//! `/sources/{id}/sse` and `/workflows/{id}/sse`: an emitter's events as they come.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Extension, State},
    http::{HeaderMap, HeaderName, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use headwater_model::id::{EmitterId, EventId, SourceId, WorkflowId};
use headwater_platform::{Caller, Follow, Platform, PlatformError, default_channels};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{ApiState, CallerExtension};
use crate::{
    error::ApiError,
    extract::{Params, PathId},
    openapi::failure,
    wire::{FeedRequest, HANDSHAKE, id, write_message},
};

const LAST_EVENT_ID: &str = "Last-Event-ID";
const HANDSHAKE_PERIOD: Duration = Duration::from_secs(15);
/// Proxies must pass data on as it arrives.
const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_TYPE, "text/event-stream"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("x-accel-buffering"), "no"),
];

/// Follows a source's events
///
/// Server-sent events: `id` is the event's, `event` its channel unless that is the default one, and
/// `data` the event as in listings, whole. A comment comes at once and every 15 s. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/sources/{id}/sse",
    operation_id = "follow_source",
    tag = "Events",
    params(
        ("id" = id::Source, Path),
        ("Last-Event-ID" = Option<id::Event>, Header, description = "The last event the reader has."),
        FeedRequest,
    ),
    responses(
        (status = 200, description = "An endless stream.", content_type = "text/event-stream", body = String),
        failure::NotFound,
    ),
)]
pub(crate) async fn source(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    headers: HeaderMap,
    Params(request): Params<FeedRequest>,
) -> Result<Response, ApiError> {
    feed(&platform, &caller, EmitterId::Source(id), &headers, request).await
}

/// Follows a workflow's events
///
/// Server-sent events: `id` is the event's, `event` its channel unless that is the default one, and
/// `data` the event as in listings, whole. A comment comes at once and every 15 s. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/workflows/{id}/sse",
    operation_id = "follow_workflow",
    tag = "Events",
    params(
        ("id" = id::Workflow, Path),
        ("Last-Event-ID" = Option<id::Event>, Header, description = "The last event the reader has."),
        FeedRequest,
    ),
    responses(
        (status = 200, description = "An endless stream.", content_type = "text/event-stream", body = String),
        failure::NotFound,
    ),
)]
pub(crate) async fn workflow(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkflowId>,
    headers: HeaderMap,
    Params(request): Params<FeedRequest>,
) -> Result<Response, ApiError> {
    feed(
        &platform,
        &caller,
        EmitterId::Workflow(id),
        &headers,
        request,
    )
    .await
}

async fn feed(
    platform: &Arc<Platform>,
    caller: &Caller,
    emitter: EmitterId,
    headers: &HeaderMap,
    request: FeedRequest,
) -> Result<Response, ApiError> {
    let follow = Follow {
        emitter: emitter.clone(),
        channels: default_channels(request.event_name.as_deref()),
        after: last_event_id(headers)?.or(request.last_event_id),
    };
    let events = platform.follow(caller, follow).await?;
    let messages =
        events.map(move |portion| portion.text(|event, text| write_message(event, &emitter, text)));
    let body = Body::from_stream(with_handshakes(messages));
    Ok((HEADERS, body).into_response())
}

/// The header of a client that comes back. It is newer than the query, which is from the first visit.
fn last_event_id(headers: &HeaderMap) -> Result<Option<EventId>, PlatformError> {
    let Some(value) = headers.get(LAST_EVENT_ID).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(value.as_bytes());
    text.parse()
        .map(Some)
        .map_err(|error| PlatformError::invalid(LAST_EVENT_ID, error))
}

/// Begins with a handshake, repeats it, and ends with the messages.
fn with_handshakes(
    messages: impl Stream<Item = Bytes> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let mut clock = interval_at(Instant::now() + HANDSHAKE_PERIOD, HANDSHAKE_PERIOD);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let going_on = stream::unfold(
        (Box::pin(messages), clock),
        async |(mut messages, mut clock)| {
            let next = tokio::select! {
                _ = clock.tick() => HANDSHAKE,
                message = messages.next() => message?,
            };
            Some((Ok(next), (messages, clock)))
        },
    );
    stream::iter([Ok(HANDSHAKE)]).chain(going_on)
}
