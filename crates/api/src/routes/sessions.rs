//! `/sessions`: browsers that are signed in to the web UI, and the link that signs one in. Not part of Pipedream's
//! API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::SessionId;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, PathId, cursor},
    openapi::failure,
    wire::{Data, Paged, Session, SignInLink, id},
};

/// Lists the caller's sessions
///
/// The browsers that are signed in as the caller, in the order in which they signed in. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/sessions",
    operation_id = "list_sessions",
    tag = "Users and workspaces",
    params(Pages),
    responses((status = 200, description = "A page of sessions.", body = Paged<Session>)),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<SessionId>,
) -> PageReply<Session> {
    let page = platform.sessions(&caller, &page).await?;
    Ok(Json(Paged::new(
        page,
        |session| cursor(&session.id),
        Session::from,
    )))
}

/// Ends a session
///
/// The browser is signed out immediately. Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/sessions/{id}",
    operation_id = "end_session",
    tag = "Users and workspaces",
    params(("id" = id::Session, Path)),
    responses((status = 204, description = "It has ended."), failure::NotFound),
)]
pub(crate) async fn end(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SessionId>,
) -> Result<StatusCode, ApiError> {
    platform.end_session(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Creates a link to sign in
///
/// Opened in a browser within ten minutes, it signs that one browser in as the caller, once. The session ends with the
/// key that this request was sent with. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/sign_in_links",
    operation_id = "create_sign_in_link",
    tag = "Users and workspaces",
    responses((status = 200, description = "The link.", body = Data<SignInLink>)),
)]
pub(crate) async fn offer(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
) -> DataReply<SignInLink> {
    data(platform.create_sign_in_link(&caller).await?.into())
}
