//! `/usage`, not part of Pipedream's API.

use axum::extract::{Extension, State};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::Params,
    openapi::failure,
    wire::{Data, Usage, UsageRequest},
};

/// Shows the usage day by day
///
/// The caller's usage, or that of the given workspace, of the last days, and the quota. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/usage",
    operation_id = "show_usage",
    tag = "Users and workspaces",
    params(UsageRequest),
    responses((status = 200, description = "The usage.", body = Data<Usage>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<UsageRequest>,
) -> DataReply<Usage> {
    let days = request.days();
    let usage = platform.daily_usage(&caller, request.workspace_id(), days);
    data(usage.await?.into())
}
