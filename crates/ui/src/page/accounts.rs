//! `/accounts`: credentials at apps, their health, and the sources that use them. Nothing of the credentials is shown.

pub(crate) mod connect;
pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod show;
mod uses;

use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_model::id::AccountId;

use crate::problem::Problem;

/// The account in a page's address. One that is malformed names nothing that exists.
pub(crate) struct AccountPath(pub(crate) AccountId);

impl<S: Send + Sync> FromRequestParts<S> for AccountPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let id = parts.extract::<Path<String>>().await;
        let text = id.map(|Path(id)| id).unwrap_or_default();
        text.parse()
            .map(Self)
            .map_err(|_| Problem::not_found("account", &text))
    }
}
