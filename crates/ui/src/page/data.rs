//! `/data`: data stores, their records, and changing either.

pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod list;
pub(crate) mod record;
pub(crate) mod show;
mod users;

use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_platform::NamedDataStore;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::form_urlencoded::Serializer;

use crate::{problem::Problem, visit::Visit};

/// The name of the data store in a page's address.
pub(crate) struct StoreName(String);

impl StoreName {
    fn named(&self, visit: &Visit) -> NamedDataStore {
        NamedDataStore {
            name: self.0.clone(),
            workspace_id: visit.workspace.clone(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for StoreName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let name = parts.extract::<Path<String>>().await;
        let name = name.map_err(|_| Problem::not_found("data store", parts.uri.path()));
        name.map(|Path(name)| Self(name))
    }
}

/// The address of a page of a data store, in the same workspace.
pub(super) fn address(
    visit: &Visit,
    name: &str,
    rest: &str,
    parameters: &[(&str, &str)],
) -> String {
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let mut query = Serializer::new(String::new());
    if let Some(id) = &visit.workspace {
        query.append_pair("workspace", id.as_str());
    }
    query.extend_pairs(parameters);
    match query.finish() {
        query if query.is_empty() => format!("/data/{name}{rest}"),
        query => format!("/data/{name}{rest}?{query}"),
    }
}
