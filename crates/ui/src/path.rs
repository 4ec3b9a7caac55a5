//! Ids in the addresses of pages. One that is malformed names nothing that exists.

use std::str::FromStr;

use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_model::{
    event_search::EventPlace,
    id::{
        AccountId, DeliveryId, DeploymentId, InvocationId, KeyId, SessionId, SourceId, UserId,
        WebhookId, WorkflowId,
    },
};

use crate::problem::Problem;

/// The id of the thing that a page is about: `{id}` in its route.
pub(crate) struct PathId<T>(pub(crate) T);

/// The kind of thing that an id names.
pub(crate) trait Named {
    const KIND: &'static str;
}

impl Named for AccountId {
    const KIND: &'static str = "account";
}

impl Named for SourceId {
    const KIND: &'static str = "source";
}

impl Named for WorkflowId {
    const KIND: &'static str = "workflow";
}

impl Named for InvocationId {
    const KIND: &'static str = "run";
}

impl Named for KeyId {
    const KIND: &'static str = "key";
}

impl Named for SessionId {
    const KIND: &'static str = "session";
}

impl Named for UserId {
    const KIND: &'static str = "user";
}

impl Named for WebhookId {
    const KIND: &'static str = "webhook";
}

impl Named for EventPlace {
    const KIND: &'static str = "event";
}

impl Named for DeliveryId {
    const KIND: &'static str = "delivery";
}

impl Named for DeploymentId {
    const KIND: &'static str = "deployment";
}

/// Both ids of an address that has two: of a thing, and of something of it.
pub(crate) async fn both<A: FromStr + Named, B: FromStr + Named>(
    parts: &mut Parts,
) -> Result<(A, B), Problem> {
    let texts = parts.extract::<Path<(String, String)>>().await;
    let (of, id) = texts.map(|Path(texts)| texts).unwrap_or_default();
    Ok((parsed(&of)?, parsed(&id)?))
}

fn parsed<T: FromStr + Named>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::not_found(T::KIND, text))
}

impl<S: Send + Sync, T: FromStr + Named> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let texts = parts.extract::<Path<Vec<(String, String)>>>().await;
        let texts = texts.map(|Path(texts)| texts).unwrap_or_default();
        let text = texts.into_iter().find(|(name, _)| name == "id");
        let text = text.map(|(_, id)| id).unwrap_or_default();
        Ok(Self(parsed(&text)?))
    }
}
