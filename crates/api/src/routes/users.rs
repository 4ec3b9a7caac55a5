//! `/users/me`: the caller and what it has.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{SourceId, WebhookId};

use super::{AppState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Paging, cursor},
    openapi::Pages,
    wire::{Data, Paged, Source, Subscription, User, Webhook},
};

/// Shows the caller
///
/// (Spec "Users and workspaces".)
#[utoipa::path(
    get,
    path = "/v1/users/me",
    operation_id = "show_user",
    tag = "Users and workspaces",
    responses((status = 200, description = "The caller.", body = Data<User>)),
)]
pub(crate) async fn me(
    State(app): AppState,
    Extension(caller): CallerExtension,
) -> DataReply<User> {
    data(app.user(&caller).await?.into())
}

/// Lists the caller's sources
///
/// In creation order (spec "Sources").
#[utoipa::path(
    get,
    path = "/v1/users/me/sources",
    operation_id = "list_own_sources",
    tag = "Sources",
    params(Pages),
    responses((status = 200, description = "A page of sources.", body = Paged<Source>)),
)]
pub(crate) async fn sources(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<SourceId>,
) -> PageReply<Source> {
    let page = app.own_sources(&caller, &page).await?;
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.source.id),
        Source::from,
    )))
}

/// Lists the caller's webhooks
///
/// Those that it made, in creation order (spec "Webhooks").
#[utoipa::path(
    get,
    path = "/v1/users/me/webhooks",
    operation_id = "list_own_webhooks",
    tag = "Webhooks",
    params(Pages),
    responses((status = 200, description = "A page of webhooks.", body = Paged<Webhook>)),
)]
pub(crate) async fn webhooks(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<WebhookId>,
) -> PageReply<Webhook> {
    let page = app.own_webhooks(&caller, &page).await?;
    Ok(Json(Paged::new(
        page,
        |webhook| cursor(&webhook.id),
        Webhook::from,
    )))
}

/// Lists the caller's subscriptions
///
/// All of them (spec "Subscriptions").
#[utoipa::path(
    get,
    path = "/v1/users/me/subscriptions",
    operation_id = "list_own_subscriptions",
    tag = "Subscriptions",
    responses((status = 200, description = "The subscriptions.", body = Data<Vec<Subscription>>)),
)]
pub(crate) async fn subscriptions(
    State(app): AppState,
    Extension(caller): CallerExtension,
) -> DataReply<Vec<Subscription>> {
    let subscriptions = app.subscriptions(&caller).await?;
    data(subscriptions.into_iter().map(Subscription::from).collect())
}
