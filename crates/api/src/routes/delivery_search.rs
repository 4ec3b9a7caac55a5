//! `/deliveries` of all webhooks, in numbers; not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::{
    id::DeliveryId,
    page::{Page, PageRequest, Position},
};
use headwater_platform::{
    Caller, CappedCount, DeliveryChange, DeliveryFilter, FoundDeliveries, Platform,
};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, Query, cursor},
    openapi::failure,
    wire::{
        ChangeDeliveries, ChangedDeliveries, Data, Delivery, DeliveryCounts, DeliveryRequest,
        Paged, SearchDeliveries,
    },
};

/// Lists deliveries to all webhooks
///
/// Those to webhooks that the caller created and those in its workspaces, newest first. A request looks at 10,000
/// deliveries at most, with `q` at 1,000: `total_count` counts no further, and if `page_info.is_cut` is true, the page may be short, and its
/// cursor leads to more. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/deliveries",
    operation_id = "search_deliveries",
    tag = "Webhooks",
    params(Pages, SearchDeliveries, DeliveryRequest),
    responses((status = 200, description = "A page of deliveries.", body = Paged<Delivery>), failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<DeliveryId>,
    Query(filter): Query<SearchDeliveries>,
    Params(request): Params<DeliveryRequest>,
) -> PageReply<Delivery> {
    let filter = DeliveryFilter::try_from(filter)?;
    let found = platform.find_deliveries(&caller, &filter, &page).await?;
    let counts = platform.count_deliveries(&caller, &filter).await?;
    let shown = shown(found, counts.total(), &page, request.expands_event());
    Ok(Json(shown))
}

/// The page of a search.
pub(super) fn shown(
    found: FoundDeliveries,
    total: CappedCount,
    page: &PageRequest<DeliveryId>,
    expands_event: bool,
) -> Paged<Delivery> {
    let items = Page {
        total_count: total.count,
        items: found.items,
    };
    let shown = Paged::new(
        items,
        |delivery| cursor(&delivery.id),
        |delivery| Delivery::new(delivery, expands_event),
    );
    let is_towards_newest = matches!(page.position, Position::Before(_));
    match found.searched_to {
        Some(id) => shown.cut_at(cursor(&id), is_towards_newest),
        None => shown,
    }
}

/// Counts deliveries to all webhooks by state
///
/// The same filter as that of the list. Each count goes up to 10,000 deliveries that were looked at. Not part of
/// Pipedream's API.
#[utoipa::path(
    get,
    path = "/deliveries/counts",
    operation_id = "count_deliveries",
    tag = "Webhooks",
    params(SearchDeliveries),
    responses((status = 200, description = "The counts.", body = Data<DeliveryCounts>), failure::NotFound),
)]
pub(crate) async fn counts(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(filter): Params<SearchDeliveries>,
) -> DataReply<DeliveryCounts> {
    let counts = platform
        .count_deliveries(&caller, &filter.try_into()?)
        .await?;
    data(counts.into())
}

/// Retries many deliveries now
///
/// Those that the filter describes and that are there when the request comes, oldest first; dead letters if it names no
/// state. Those of webhooks that are not active are left out. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/deliveries/retry",
    operation_id = "retry_deliveries",
    tag = "Webhooks",
    request_body = ChangeDeliveries,
    responses((status = 200, description = "The number of deliveries.", body = Data<ChangedDeliveries>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn retry(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<ChangeDeliveries>,
) -> DataReply<ChangedDeliveries> {
    change(&platform, &caller, DeliveryChange::Retry, request).await
}

/// Discards many deliveries
///
/// Those that the filter describes and that are there when the request comes; dead letters if it names no state. They are
/// not attempted any more, unless somebody retries them. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/deliveries/discard",
    operation_id = "discard_deliveries",
    tag = "Webhooks",
    request_body = ChangeDeliveries,
    responses((status = 200, description = "The number of deliveries.", body = Data<ChangedDeliveries>), failure::NotFound),
)]
pub(crate) async fn discard(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<ChangeDeliveries>,
) -> DataReply<ChangedDeliveries> {
    change(&platform, &caller, DeliveryChange::Discard, request).await
}

async fn change(
    platform: &Platform,
    caller: &Caller,
    change: DeliveryChange,
    request: ChangeDeliveries,
) -> DataReply<ChangedDeliveries> {
    let is_dry = request.is_dry();
    let request = headwater_platform::ChangeDeliveries {
        change,
        filter: request.try_into()?,
        is_dry,
    };
    let changed = platform.change_deliveries(caller, request).await?;
    data(ChangedDeliveries::new(changed, is_dry))
}
