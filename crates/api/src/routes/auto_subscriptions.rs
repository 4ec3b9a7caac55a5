//! `/auto_subscriptions`.

use axum::{
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, data, required};
use crate::{
    error::ApiError,
    extract::Params,
    openapi::failure,
    wire::{AutoSubscription, AutoSubscriptionRequest, Data},
};

/// Subscribes a listener to all later sources and workflows
///
/// To `$errors` or `$logs` of every source and workflow that the caller creates from now on; each gets a
/// subscription of its own. The same again changes nothing. The parameters may be in a JSON body
/// instead.
#[utoipa::path(
    post,
    path = "/auto_subscriptions",
    operation_id = "subscribe_automatically",
    tag = "Subscriptions",
    params(AutoSubscriptionRequest),
    request_body(content = Option<AutoSubscriptionRequest>),
    responses((status = 200, description = "The automatic subscription.", body = Data<AutoSubscription>), failure::NotFound),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<AutoSubscriptionRequest>,
) -> DataReply<AutoSubscription> {
    let (event_name, listener_id) = pair(request)?;
    let subscription = platform.subscribe_automatically(&caller, &listener_id, &event_name);
    data(subscription.await?.into())
}

/// Ends an automatic subscription
///
/// Subscriptions that it has created stay. The parameters may be in a JSON body instead. Not part of
/// Pipedream's API.
#[utoipa::path(
    delete,
    path = "/auto_subscriptions",
    operation_id = "unsubscribe_automatically",
    tag = "Subscriptions",
    params(AutoSubscriptionRequest),
    request_body(content = Option<AutoSubscriptionRequest>),
    responses((status = 204, description = "It is ended."), failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<AutoSubscriptionRequest>,
) -> Result<StatusCode, ApiError> {
    let (event_name, listener_id) = pair(request)?;
    platform
        .unsubscribe_automatically(&caller, &listener_id, &event_name)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

fn pair(request: AutoSubscriptionRequest) -> Result<(String, String), PlatformError> {
    let event_name = required("event_name", request.event_name)?;
    Ok((event_name, required("listener_id", request.listener_id)?))
}
