//! `/users`: the caller and their things; and the users of the node, for its administrator, which are
//! not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::{
    id::{SourceId, UserId, WebhookId},
    page::Page,
};

use super::{ApiState, CallerExtension, DataReply, PageReply, data, sources};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{
        CreateUser, Data, Me, NewUser, Paged, Source, SourcesRequest, Subscription, User, Webhook,
        WebhooksRequest, id,
    },
};

/// Shows the caller
///
/// With the caller's usage, and their workspaces or billing period.
#[utoipa::path(
    get,
    path = "/users/me",
    operation_id = "show_user",
    tag = "Users and workspaces",
    responses((status = 200, description = "The caller.", body = Data<Me>)),
)]
pub(crate) async fn me(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
) -> DataReply<Me> {
    data(platform.me(&caller).await?.into())
}

/// Lists the caller's sources
///
/// The caller's sources, or those of the given workspace, in creation order.
#[utoipa::path(
    get,
    path = "/users/me/sources",
    operation_id = "list_own_sources",
    tag = "Sources",
    params(Pages, SourcesRequest),
    responses((status = 200, description = "A page of sources.", body = Paged<Source>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn sources(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<SourceId>,
    Params(request): Params<SourcesRequest>,
) -> PageReply<Source> {
    let page = platform.sources(&caller, request.workspace_id(), request.wanted(), &page);
    sources::shown(&platform, page.await?, request.expands_health()).await
}

/// Lists the caller's webhooks
///
/// The webhooks that the caller created, or those in the given workspace, in creation order.
#[utoipa::path(
    get,
    path = "/users/me/webhooks",
    operation_id = "list_own_webhooks",
    tag = "Webhooks",
    params(Pages, WebhooksRequest),
    responses((status = 200, description = "A page of webhooks.", body = Paged<Webhook>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn webhooks(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<WebhookId>,
    Params(request): Params<WebhooksRequest>,
) -> PageReply<Webhook> {
    let page = platform
        .find_webhooks(&caller, request.workspace_id(), &request.words(), &page)
        .await?;
    let ids: Vec<WebhookId> = page
        .items
        .iter()
        .map(|webhook| webhook.id.clone())
        .collect();
    let backlogs = platform.webhook_backlogs(&ids).await?;
    let health = match request.expands_health() {
        true => platform
            .webhooks_health(&ids)
            .await?
            .into_iter()
            .map(Some)
            .collect(),
        false => vec![None; ids.len()],
    };
    let page = Page {
        total_count: page.total_count,
        items: page
            .items
            .into_iter()
            .zip(backlogs.into_iter().zip(health))
            .collect(),
    };
    Ok(Json(Paged::new(
        page,
        |(webhook, _)| cursor(&webhook.id),
        |(webhook, (backlog, health))| {
            let shown = Webhook::from(webhook).with_backlog(backlog);
            match health {
                Some(health) => shown.with_health(health),
                None => shown,
            }
        },
    )))
}

/// Lists the caller's subscriptions
///
/// All of them.
#[utoipa::path(
    get,
    path = "/users/me/subscriptions",
    operation_id = "list_own_subscriptions",
    tag = "Subscriptions",
    responses((status = 200, description = "The subscriptions.", body = Data<Vec<Subscription>>)),
)]
pub(crate) async fn subscriptions(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
) -> DataReply<Vec<Subscription>> {
    let subscriptions = platform.subscriptions(&caller).await?;
    data(subscriptions.into_iter().map(Subscription::from).collect())
}

/// Creates a user
///
/// For the administrator. The answer shows the user's first key, once. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/users",
    operation_id = "create_user",
    tag = "Users and workspaces",
    request_body = CreateUser,
    responses((status = 200, description = "The user and its first key.", body = Data<NewUser>), failure::Forbidden, failure::Conflict),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateUser>,
) -> DataReply<NewUser> {
    let username = request.username.unwrap_or_default();
    let email = request.email.unwrap_or_default();
    data(platform.create_user(&caller, username, email).await?.into())
}

/// Lists the users
///
/// For the administrator; in creation order. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/users",
    operation_id = "list_users",
    tag = "Users and workspaces",
    params(Pages),
    responses((status = 200, description = "A page of users.", body = Paged<User>), failure::Forbidden),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<UserId>,
) -> PageReply<User> {
    let page = platform.users(&caller, &page).await?;
    Ok(Json(Paged::new(page, |user| cursor(&user.id), User::from)))
}

/// Deletes a user
///
/// For the administrator. Deletes the user with their keys, accounts and subscriptions. Things that
/// they created in a workspace pass to another member. While the user has sources or webhooks of their
/// own, nothing is deleted. Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/users/{id}",
    operation_id = "delete_user",
    tag = "Users and workspaces",
    params(("id" = id::User, Path)),
    responses((status = 204, description = "It is deleted."), failure::Forbidden, failure::NotFound, failure::Conflict),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<UserId>,
) -> Result<StatusCode, ApiError> {
    platform.delete_user(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
