//! `/subscriptions`.

use axum::{
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_platform::{Caller, Platform, PlatformError};

use super::{ApiState, CallerExtension, DataReply, data, required};
use crate::{
    error::ApiError,
    extract::Params,
    openapi::failure,
    wire::{Data, Subscription, SubscriptionRequest},
};

/// Subscribes a listener to an emitter
///
/// The same again changes nothing. The parameters may be in a JSON body instead.
#[utoipa::path(
    post,
    path = "/subscriptions",
    operation_id = "subscribe",
    tag = "Subscriptions",
    params(SubscriptionRequest),
    request_body(content = Option<SubscriptionRequest>),
    responses((status = 200, description = "The subscription.", body = Data<Subscription>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<SubscriptionRequest>,
) -> DataReply<Subscription> {
    let (emitter_id, listener_id, event_name) = triple(&platform, &caller, request).await?;
    let subscription = platform.subscribe(&caller, &emitter_id, &listener_id, &event_name);
    data(subscription.await?.into())
}

/// Ends a subscription
///
/// The one with these parameters; `event_name` empty for the default channel. They may be in a JSON
/// body instead.
#[utoipa::path(
    delete,
    path = "/subscriptions",
    operation_id = "unsubscribe",
    tag = "Subscriptions",
    params(SubscriptionRequest),
    request_body(content = Option<SubscriptionRequest>),
    responses((status = 204, description = "It is ended."), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<SubscriptionRequest>,
) -> Result<StatusCode, ApiError> {
    let (emitter_id, listener_id, event_name) = triple(&platform, &caller, request).await?;
    platform
        .unsubscribe(&caller, &emitter_id, &listener_id, &event_name)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn triple(
    platform: &Platform,
    caller: &Caller,
    request: SubscriptionRequest,
) -> Result<(String, String, String), PlatformError> {
    let emitter_id = required("emitter_id", request.emitter_id)?;
    if let Some(id) = request.workspace_id.or(request.org_id) {
        platform
            .check_subscription_workspace(caller, &emitter_id, &id)
            .await?;
    }
    let listener_id = required("listener_id", request.listener_id)?;
    Ok((
        emitter_id,
        listener_id,
        request.event_name.unwrap_or_default(),
    ))
}
