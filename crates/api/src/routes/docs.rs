//! `/openapi.json`: the API, described for programs. Open to everybody: it tells nothing of what is
//! on the node.

use axum::{Json, extract::State};
use serde_json::Value;

use super::AppState;
use crate::openapi::document;

/// Describes the API
///
/// The OpenAPI 3.1 document, with this node's address as its server.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "Node",
    security(()),
    responses((status = 200, description = "The document.", body = Object)),
)]
pub(crate) async fn json(State(app): AppState) -> Json<Value> {
    Json(document(&app.config().public_url))
}
