//! `/events/replay`: sending events again to their listeners; not part of Pipedream's API.

use axum::extract::{Extension, State};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::Params,
    openapi::failure,
    wire::{Data, ReplayEvents, ReplayedEvents},
};

/// Sends events again to their listeners
///
/// Up to 100 kept events of any sources and workflows, oldest first, to those who listen to their emitter and channel now:
/// another run of each source and workflow, and the delivery to each webhook again, with the same `webhook-id`; or to one
/// of them alone, by `listener_id`. A dry run tells who they are. Not part of Pipedream's API.
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
    let replayed = platform.replay_events(&caller, request.into()).await?;
    data(replayed.into())
}
