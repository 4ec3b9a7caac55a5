//! `/settings`, not part of Pipedream's API.

use axum::extract::{Extension, State};

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    openapi::failure,
    wire::{Data, Setting},
};

/// Lists the options of the node
///
/// For administrators: every option of `headwater serve` by name, with its value, and the place where it was set. Secret values
/// are not told. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/settings",
    operation_id = "list_settings",
    tag = "Node",
    responses((status = 200, description = "The options, in the order of the help.", body = Data<Vec<Setting>>), failure::Forbidden),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
) -> DataReply<Vec<Setting>> {
    let settings = platform.settings(&caller)?;
    data(settings.iter().map(Setting::from).collect())
}
