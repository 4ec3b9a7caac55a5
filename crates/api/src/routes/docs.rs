//! `/openapi.json` and `/docs`: the API, described for programs and for people. Open to everybody:
//! they tell nothing of what is on the node.

use axum::{Json, extract::State, response::Html};
use serde_json::Value;

use super::AppState;
use crate::{docs::html, openapi::document};

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

/// Describes the API, for people
///
/// This page.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "docs",
    tag = "Node",
    security(()),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html; charset=utf-8")),
)]
pub(crate) async fn page(State(app): AppState) -> Html<String> {
    Html(html(&document(&app.config().public_url)))
}
