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
/// The caller's usage, or that of the given workspace, of the last days, and the quota; on request, of each source and
/// workflow, too. Not part of Pipedream's API.
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
    let (days, is_by_source) = (request.days(), request.is_by_source());
    let workspace_id = request.workspace_id();
    match is_by_source {
        true => {
            let usage = platform.usage_by_runnable(&caller, workspace_id, days);
            data(usage.await?.into())
        }
        false => {
            let usage = platform.daily_usage(&caller, workspace_id, days);
            data(usage.await?.into())
        }
    }
}
