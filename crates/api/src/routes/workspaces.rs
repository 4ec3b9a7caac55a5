//! `/workspaces/{id}`: what its members share.

use axum::extract::{Extension, State};
use headwater_model::id::WorkspaceId;

use super::{AppState, CallerExtension, DataReply, data};
use crate::{
    extract::PathId,
    openapi::failure,
    wire::{Data, Subscription, id},
};

/// Lists a workspace's subscriptions
///
/// Those whose emitter or listener lives in it, whoever made them, and those to the workspace itself (spec
/// "Subscriptions").
#[utoipa::path(
    get,
    path = "/v1/workspaces/{id}/subscriptions",
    operation_id = "list_workspace_subscriptions",
    tag = "Subscriptions",
    params(("id" = id::Workspace, Path)),
    responses((status = 200, description = "The subscriptions.", body = Data<Vec<Subscription>>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn subscriptions(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
) -> DataReply<Vec<Subscription>> {
    let subscriptions = app.workspace_subscriptions(&caller, id).await?;
    data(subscriptions.into_iter().map(Subscription::from).collect())
}
