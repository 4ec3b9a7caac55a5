//! `/runs/replay`: replays of all runs that a search finds; not part of Pipedream's API.

use axum::extract::{Extension, State};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::Params,
    openapi::failure,
    wire::{Data, ReplayRuns, ReplayedRuns},
};

/// Replays all runs of workflows that a search finds
///
/// Those that have ended, oldest first, each with its event and from its beginning, as `POST /runs/{id}/replay` does one. The
/// newest 1,000 of them at once: `next` of the answer leads on to older ones. Give `until`, as otherwise the replays are among
/// what the search finds the next time. A dry run tells how many they are. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/runs/replay",
    operation_id = "replay_runs",
    tag = "Runs",
    request_body = ReplayRuns,
    responses((status = 200, description = "The runs that began again.", body = Data<ReplayedRuns>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn replay(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<ReplayRuns>,
) -> DataReply<ReplayedRuns> {
    let request = request.try_into()?;
    data(platform.replay_found_runs(&caller, &request).await?.into())
}
