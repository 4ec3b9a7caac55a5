//! Ids and names in paths. One that is malformed names nothing that exists, so it is answered like an
//! unknown one: 404.

use std::str::FromStr;

use axum::{
    RequestPartsExt,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_model::id::{
    AccountId, ComponentId, ConnectId, DeliveryId, InvocationId, KeyId, SessionId, SourceId,
    UserId, WebhookId, WorkflowId, WorkspaceId,
};
use headwater_platform::PlatformError;

use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The one id in a route's path.
pub(crate) struct PathId<T>(pub(crate) T);

/// The names in a route's path, as text.
pub(crate) struct PathText<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send + 'static> FromRequestParts<S> for PathText<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let path = parts.extract::<Path<T>>().await;
        // Bytes that are not text.
        let Path(text) = path.map_err(|_| ApiError::NoRoute {
            method: parts.method.clone(),
            meant: None,
        })?;
        Ok(Self(text))
    }
}

/// The kind of thing that an id names, in the API's words.
pub(crate) trait Named {
    const KIND: &'static str;
}

impl Named for SourceId {
    const KIND: &'static str = "source";
}

impl Named for ComponentId {
    const KIND: &'static str = "component";
}

impl Named for WorkflowId {
    const KIND: &'static str = "workflow";
}

impl Named for WorkspaceId {
    const KIND: &'static str = "workspace";
}

impl Named for AccountId {
    const KIND: &'static str = "account";
}

impl Named for ConnectId {
    const KIND: &'static str = "connect";
}

impl Named for WebhookId {
    const KIND: &'static str = "webhook";
}

impl Named for InvocationId {
    const KIND: &'static str = "run";
}

impl Named for DeliveryId {
    const KIND: &'static str = "delivery";
}

impl Named for UserId {
    const KIND: &'static str = "user";
}

impl Named for KeyId {
    const KIND: &'static str = "key";
}

impl Named for SessionId {
    const KIND: &'static str = "session";
}

impl<S: Send + Sync, T: FromStr + Named> FromRequestParts<S> for PathId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let path = parts.extract::<Path<String>>().await;
        let text = path.map(|Path(text)| text).unwrap_or_default();
        let id = text
            .parse()
            .map_err(|_| PlatformError::not_found(T::KIND, text))?;
        Ok(Self(id))
    }
}
