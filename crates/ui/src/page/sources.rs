//! `/sources`: all of them, and one with everything about it, each part at an address of its own.

pub(crate) mod code;
pub(crate) mod config;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod errors;
pub(crate) mod event_row;
pub(crate) mod events;
pub(crate) mod head;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod subscriptions;
pub(crate) mod switch;

use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_model::id::SourceId;

use crate::problem::Problem;

/// The source in a page's address. One that is malformed names nothing that exists.
pub(crate) struct SourcePath(pub(crate) SourceId);

impl<S: Send + Sync> FromRequestParts<S> for SourcePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let ids = parts.extract::<Path<Vec<(String, String)>>>().await;
        let ids = ids.map(|Path(ids)| ids).unwrap_or_default();
        let text = ids.into_iter().find(|(name, _)| name == "id");
        let text = text.map(|(_, id)| id).unwrap_or_default();
        text.parse()
            .map(Self)
            .map_err(|_| Problem::not_found("source", &text))
    }
}
