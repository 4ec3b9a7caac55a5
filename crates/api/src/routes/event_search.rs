//! `/events`, not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, RawQuery, State},
};
use headwater_model::{event_search::EventPlace, page::Position};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension};
use crate::{
    error::ApiError,
    extract::{ForwardPages, Paging, Params, cursor},
    openapi::failure,
    wire::{EventSearchRequest, SearchedEvents},
};

/// Searches events
///
/// The kept events of all sources and workflows of the caller, or of a workspace, newest first. A part looks at 5,000 of
/// them at most and tells the cursor to go on with, also if it found nothing. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/events",
    operation_id = "search_events",
    tag = "Events",
    params(ForwardPages, EventSearchRequest),
    responses((status = 200, description = "A part of the search.", body = SearchedEvents), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn search(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    RawQuery(query): RawQuery,
    Paging(page): Paging<EventPlace>,
    Params(request): Params<EventSearchRequest>,
) -> Result<Json<SearchedEvents>, ApiError> {
    let after = match page.position {
        Position::First => None,
        Position::After(place) => Some(place),
        Position::Before(_) => {
            let reason = "a search leads from newer events to older ones; use `after`";
            return Err(PlatformError::invalid("before", reason).into());
        }
    };
    let search = request.search(&query.unwrap_or_default(), after, page.limit)?;
    let found = platform.search_events(&caller, search).await?;
    Ok(Json(SearchedEvents::new(found, cursor)))
}
