//! `/keys`: the caller's API keys, and `/secret_key`: the node's own. Not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::KeyId;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{CreateKey, Data, Key, KeysRequest, NewKey, Paged, SecretKeyRotation, id},
};

/// Creates an API key
///
/// The answer shows the key, once. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/keys",
    operation_id = "create_key",
    tag = "Users and workspaces",
    request_body = CreateKey,
    responses((status = 200, description = "The key.", body = Data<NewKey>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateKey>,
) -> DataReply<NewKey> {
    let name = request.name.unwrap_or_default();
    let new = platform.create_key(&caller, &name, request.user_id).await?;
    data(NewKey::seen_with(new, caller.key_id()))
}

/// Lists the caller's API keys
///
/// In creation order; the keys themselves are not shown. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/keys",
    operation_id = "list_keys",
    tag = "Users and workspaces",
    params(Pages, KeysRequest),
    responses((status = 200, description = "A page of keys.", body = Paged<Key>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<KeyId>,
    Params(request): Params<KeysRequest>,
) -> PageReply<Key> {
    let page = platform.keys(&caller, request.user_id, &page).await?;
    let seen = |key| Key::seen_with(key, caller.key_id());
    Ok(Json(Paged::new(page, |key| cursor(&key.id), seen)))
}

/// Revokes an API key
///
/// The key stops working immediately. A user's last key cannot revoke itself. Not part of Pipedream's
/// API.
#[utoipa::path(
    delete,
    path = "/keys/{id}",
    operation_id = "revoke_key",
    tag = "Users and workspaces",
    params(("id" = id::Key, Path)),
    responses((status = 204, description = "It is revoked."), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn revoke(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<KeyId>,
) -> Result<StatusCode, ApiError> {
    platform.revoke_key(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Rotates the secret key
///
/// Creates a new secret key and encrypts every account, webhook secret and secret prop with it. For the
/// administrator. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/secret_key/rotate",
    operation_id = "rotate_secret_key",
    tag = "Users and workspaces",
    responses((status = 200, description = "The number of things encrypted anew.", body = Data<SecretKeyRotation>), failure::Forbidden, failure::Conflict),
)]
pub(crate) async fn rotate_secret_key(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
) -> DataReply<SecretKeyRotation> {
    data(platform.rotate_secret_key(&caller).await?.into())
}
