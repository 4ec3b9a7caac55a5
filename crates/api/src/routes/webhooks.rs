//! `/webhooks` and `/webhooks/{id}`. All but creating and deleting them is not part of Pipedream's API.

use axum::{
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::WebhookId;
use headwater_platform::Platform;

use super::{ApiState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::{Params, PathId},
    openapi::failure,
    wire::{
        CreateWebhook, Data, RotateSecret, TestedWebhook, UpdateWebhook, Webhook, WebhookRequest,
        id,
    },
};

/// Creates a webhook
///
/// Its secret is in this answer and never shown again. The parameters may be in a JSON body instead.
#[utoipa::path(
    post,
    path = "/webhooks",
    operation_id = "create_webhook",
    tag = "Webhooks",
    params(CreateWebhook),
    request_body(content = Option<CreateWebhook>),
    responses((status = 200, description = "The webhook with its secret.", body = Data<Webhook>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateWebhook>,
) -> DataReply<Webhook> {
    data(
        platform
            .create_webhook(&caller, request.into())
            .await?
            .into(),
    )
}

/// Shows a webhook
///
/// Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    operation_id = "show_webhook",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path), WebhookRequest),
    responses((status = 200, description = "The webhook.", body = Data<Webhook>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
    Params(request): Params<WebhookRequest>,
) -> DataReply<Webhook> {
    let mut webhook: Webhook = platform.webhook(&caller, &id).await?.into();
    if request.expands_health() {
        let health = platform.webhooks_health(std::slice::from_ref(&id)).await?;
        webhook = webhook.with_health(health.first().copied().unwrap_or_default());
    }
    data(with_backlog(&platform, webhook, id).await?)
}

/// Changes a webhook
///
/// Changes only the given fields; null removes a name or description. Deactivating the webhook turns
/// its pending deliveries into dead letters. Not part of Pipedream's API.
#[utoipa::path(
    patch,
    path = "/webhooks/{id}",
    operation_id = "update_webhook",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path)),
    request_body = UpdateWebhook,
    responses((status = 200, description = "The webhook.", body = Data<Webhook>), failure::NotFound),
)]
pub(crate) async fn patch(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
    Params(request): Params<UpdateWebhook>,
) -> DataReply<Webhook> {
    let webhook = platform
        .update_webhook(&caller, &id, request.into())
        .await?;
    data(with_backlog(&platform, webhook.into(), id).await?)
}

/// Deletes a webhook
///
/// With its subscriptions and deliveries.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    operation_id = "delete_webhook",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path)),
    responses((status = 204, description = "It is deleted."), failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
) -> Result<StatusCode, ApiError> {
    platform.delete_webhook(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Rotates a webhook's secret
///
/// Sets a new secret, or the given one. For 24 hours, deliveries are also signed with the former one.
/// Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/rotate_secret",
    operation_id = "rotate_webhook_secret",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path)),
    request_body(content = Option<RotateSecret>),
    responses((status = 200, description = "The webhook with its secret.", body = Data<Webhook>), failure::NotFound),
)]
pub(crate) async fn rotate_secret(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
    Params(request): Params<RotateSecret>,
) -> DataReply<Webhook> {
    let rotated = platform
        .rotate_webhook_secret(&caller, &id, request.secret)
        .await?;
    data(with_backlog(&platform, rotated.into(), id).await?)
}

/// Sends a test event to a webhook
///
/// POSTs a sample at once, signed as deliveries are, and answers with the attempt. Its header `x-headwater-test` and its
/// body's `test` are true. It is sent to an inactive webhook, too; it is not kept, not repeated, and does not count for the
/// webhook's health. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/test",
    operation_id = "test_webhook",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path)),
    responses((status = 200, description = "The event and the attempt, whether the webhook took it or not.", body = Data<TestedWebhook>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn test(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
) -> DataReply<TestedWebhook> {
    data(platform.test_webhook(&caller, &id).await?.into())
}

/// A webhook with its backlog.
async fn with_backlog(
    platform: &Platform,
    webhook: Webhook,
    id: WebhookId,
) -> Result<Webhook, ApiError> {
    let backlogs = platform.webhook_backlogs(&[id]).await?;
    Ok(webhook.with_backlog(backlogs.first().copied().unwrap_or_default()))
}
