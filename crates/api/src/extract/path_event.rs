//! The path of an event: its emitter's id and its own. One that is malformed names nothing that exists: 404.

use std::{marker::PhantomData, str::FromStr};

use axum::{
    RequestPartsExt,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_model::{event::EventRef, id::RunnableId};
use headwater_platform::PlatformError;

use super::path_id::Named;
use crate::error::ApiError;

/// The event that a route's path names, of an emitter of type `T`.
pub(crate) struct PathEvent<T> {
    pub(crate) event: EventRef,
    emitter: PhantomData<T>,
}

impl<S: Send + Sync, T> FromRequestParts<S> for PathEvent<T>
where
    T: FromStr + Named + Into<RunnableId>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let path = parts.extract::<Path<(String, String)>>().await;
        let (emitter, event) = path.map(|Path(texts)| texts).unwrap_or_default();
        let emitter: T = emitter
            .parse()
            .map_err(|_| PlatformError::not_found(T::KIND, emitter))?;
        let id = event
            .parse()
            .map_err(|_| PlatformError::not_found("event", event))?;
        Ok(Self {
            event: EventRef {
                emitter: emitter.into().into(),
                id,
            },
            emitter: PhantomData,
        })
    }
}
