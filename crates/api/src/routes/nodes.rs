//! `/nodes`, not part of Pipedream's API.

use axum::extract::{Extension, State};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    extract::{Params, PathText},
    openapi::failure,
    wire::{Data, Node, PatchNode},
};

/// Lists the nodes
///
/// For administrators: the nodes that share the database, or the one that has the store for itself. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/nodes",
    operation_id = "list_nodes",
    tag = "Node",
    responses((status = 200, description = "All nodes, by id.", body = Data<Vec<Node>>), failure::Forbidden),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
) -> DataReply<Vec<Node>> {
    let nodes = platform.nodes(&caller).await?;
    data(nodes.into_iter().map(Node::from).collect())
}

/// Drains a node
///
/// For administrators. A node that drains takes no work over and gives up what it has, once its runs in progress have ended or
/// had their grace; another node has it then. It still passes requests on, but is not ready, so that proxies send them
/// elsewhere. `false` takes it back in. Not part of Pipedream's API.
#[utoipa::path(
    patch,
    path = "/nodes/{id}",
    operation_id = "patch_node",
    tag = "Node",
    params(("id" = String, Path)),
    request_body = PatchNode,
    responses((status = 200, description = "The node.", body = Data<Node>), failure::Forbidden, failure::NotFound, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn patch(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(id): PathText<String>,
    Params(request): Params<PatchNode>,
) -> DataReply<Node> {
    let missing = || PlatformError::invalid("draining", "`draining` is required: true or false");
    let is_draining = request.draining.ok_or_else(missing)?;
    let node = platform.drain_node(&caller, &id, is_draining).await?;
    data(node.into())
}
