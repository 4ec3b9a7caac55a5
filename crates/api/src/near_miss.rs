//! Paths that people write who mean another one, often from memory of another service. Below the API's prefix.

use axum::http::Method;
use headwater_platform::PlatformError;

use crate::error::ApiError;

/// A path of Pipedream's API that here is the one of a component called `search`.
const SEARCH: &str = "/components/search";

/// Tells what was meant by the key of a component that is not there, if it is a word of another service.
pub(crate) fn component(key: &str, error: PlatformError) -> ApiError {
    let is_search = SEARCH.rsplit('/').next() == Some(key);
    if is_search && matches!(error, PlatformError::NotFound { .. }) {
        return ApiError::NoRoute {
            method: Method::GET,
            meant: meant(SEARCH),
        };
    }
    error.into()
}

/// The path of the operation that people mean who write another one, often from memory of another service.
pub(crate) fn meant(path: &str) -> Option<&'static str> {
    Some(match path.trim_end_matches('/') {
        "/sources" => "`GET /v1/users/me/sources`",
        "/webhooks" => "`GET /v1/users/me/webhooks`",
        "/subscriptions" => "`GET /v1/users/me/subscriptions`",
        "/me" | "/user" | "/users/self" => "`GET /v1/users/me`",
        "/users/me/accounts" => "`GET /v1/accounts`",
        "/users/me/workflows" => "`GET /v1/workflows`",
        "/users/me/components" => "`GET /v1/components`",
        SEARCH => {
            "`GET /v1/components?q=WORDS`, and `GET /v1/packages/components?q=WORDS` for components on npm"
        }
        "/users/me/keys" | "/api_keys" => "`GET /v1/keys`",
        "/projects" => "`GET /v1/workspaces`: there are no projects",
        "/connect/tokens" | "/connect/accounts" => "`POST /v1/accounts/connect`",
        "/connect/components" | "/connect/triggers" | "/connect/actions" => "`GET /v1/components`",
        _ => return None,
    })
}
