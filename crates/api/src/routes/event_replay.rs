//! `/events/replay`: sending events again to their listeners; not part of Pipedream's API.

use axum::extract::{Extension, State};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::Params,
    openapi::failure,
    wire::{Data, EventsToReplay, ReplayEvents, ReplayedEvents},
};

/// Sends events again to their listeners
///
/// Up to 100 kept events of any sources and workflows, oldest first, to those who listen to their emitter and channel now:
/// another run of each source and workflow, and the delivery to each webhook again, with the same `webhook-id`; or to one
/// of them alone, by `listener_id`. Or all events that a search finds, by `filter`: the newest 1,000 of them, and `next` of the
/// answer leads on to older ones. A dry run tells how many they are and who would get them. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/events/replay",
    operation_id = "replay_events",
    tag = "Events",
    request_body = ReplayEvents,
    responses((status = 200, description = "The events and their listeners.", body = Data<ReplayedEvents>), failure::NotFound),
)]
pub(crate) async fn replay(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<ReplayEvents>,
) -> DataReply<ReplayedEvents> {
    match EventsToReplay::try_from(request)? {
        EventsToReplay::Events(request) => {
            data(platform.replay_events(&caller, request).await?.into())
        }
        EventsToReplay::Found(request) => {
            data(platform.replay_found(&caller, request).await?.into())
        }
    }
}
