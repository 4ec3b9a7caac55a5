//! `/webhooks/{id}/deliveries`, `/webhooks/{id}/replay` and `/deliveries/{id}`, one webhook or delivery each; not part of
//! Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{DeliveryId, WebhookId};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{
        Data, DeliveriesRequest, Delivery, DeliveryRequest, Paged, ReplayDeliveries, Replayed, id,
    },
};

/// Lists a webhook's deliveries
///
/// Newest first. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/deliveries",
    operation_id = "list_deliveries",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path), Pages, DeliveriesRequest),
    responses((status = 200, description = "A page of deliveries.", body = Paged<Delivery>), failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
    Paging(page): Paging<DeliveryId>,
    Params(request): Params<DeliveriesRequest>,
) -> PageReply<Delivery> {
    let page = platform
        .deliveries(&caller, &id, request.state, &page)
        .await?;
    Ok(Json(Paged::new(
        page,
        |delivery| cursor(&delivery.id),
        |delivery| Delivery::new(delivery, request.expands_event()),
    )))
}

/// Delivers the events of a time range again
///
/// Repeats dead letters, and with `delivered` also successful deliveries, oldest event first. With `missed`, sends events of
/// which the webhook has no delivery instead. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/replay",
    operation_id = "replay_deliveries",
    tag = "Webhooks",
    params(("id" = id::Webhook, Path)),
    request_body = ReplayDeliveries,
    responses((status = 200, description = "The number of repeated deliveries.", body = Data<Replayed>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn replay(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WebhookId>,
    Params(request): Params<ReplayDeliveries>,
) -> DataReply<Replayed> {
    if let Some(missed) = request.missed()? {
        let sent = platform.send_missed(&caller, &id, missed).await?;
        return data(Replayed {
            replayed: sent.count,
            is_capped: Some(sent.is_capped),
        });
    }
    let replayed = platform
        .replay_deliveries(&caller, &id, request.into())
        .await?;
    data(Replayed {
        replayed,
        is_capped: None,
    })
}

/// Shows a delivery
///
/// Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/deliveries/{id}",
    operation_id = "show_delivery",
    tag = "Webhooks",
    params(("id" = id::Delivery, Path), DeliveryRequest),
    responses((status = 200, description = "The delivery.", body = Data<Delivery>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<DeliveryId>,
    Params(request): Params<DeliveryRequest>,
) -> DataReply<Delivery> {
    let delivery = platform.delivery(&caller, &id).await?;
    data(Delivery::new(delivery, request.expands_event()))
}

/// Retries a delivery now
///
/// A delivery that had ended, also by being discarded, starts its retry schedule again. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/deliveries/{id}/retry",
    operation_id = "retry_delivery",
    tag = "Webhooks",
    params(("id" = id::Delivery, Path), DeliveryRequest),
    responses((status = 200, description = "The delivery, pending.", body = Data<Delivery>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn retry(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<DeliveryId>,
    Params(request): Params<DeliveryRequest>,
) -> DataReply<Delivery> {
    let delivery = platform.retry_delivery(&caller, &id).await?;
    data(Delivery::new(delivery, request.expands_event()))
}

/// Discards a delivery
///
/// A pending or dead delivery is not attempted any more, unless somebody retries it. An attempt that is under way may still
/// arrive. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/deliveries/{id}/discard",
    operation_id = "discard_delivery",
    tag = "Webhooks",
    params(("id" = id::Delivery, Path), DeliveryRequest),
    responses((status = 200, description = "The delivery, discarded.", body = Data<Delivery>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn discard(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<DeliveryId>,
    Params(request): Params<DeliveryRequest>,
) -> DataReply<Delivery> {
    let delivery = platform.discard_delivery(&caller, &id).await?;
    data(Delivery::new(delivery, request.expands_event()))
}
