//! Answers where nothing is served, or by other methods only: JSON for clients of the API, a page for people whose
//! browser opens an address.

use std::convert::Infallible;

use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use tower::ServiceExt as _;

use crate::{error::ApiError, near_miss, operations::V1};

/// Tells clients of the API that nothing is served at a path.
pub(crate) async fn no_route(request: Request) -> ApiError {
    ApiError::NoRoute {
        method: request.method().clone(),
        meant: meant(request.uri().path()),
    }
}

/// Tells clients of the API that a path is served by other methods.
pub(crate) async fn no_method(request: Request) -> ApiError {
    ApiError::MethodNotAllowed {
        method: request.method().clone(),
        meant: meant(request.uri().path()),
    }
}

/// The path of the operation that people mean.
fn meant(path: &str) -> Option<&'static str> {
    near_miss::meant(path.strip_prefix(V1).unwrap_or(path))
}

/// Tells either that nothing is served at a path.
pub(crate) async fn tell(page: Router, request: Request) -> Response {
    match is_of_browser(&request) {
        true => opened(page, request).await,
        false => no_route(request).await.into_response(),
    }
}

/// Tells either that a path is served by other methods: people open the address of a form.
pub(crate) async fn tell_method(page: Router, request: Request) -> Response {
    if !is_of_browser(&request) {
        return no_method(request).await.into_response();
    }
    let mut response = opened(page, request).await;
    if response.status() == StatusCode::NOT_FOUND {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    }
    response
}

async fn opened(page: Router, request: Request) -> Response {
    let answered: Result<Response, Infallible> = page.oneshot(request).await;
    answered.unwrap_or_else(|never| match never {})
}

/// Whether a person opens an address: nothing else asks for HTML. Below the API's prefix everybody is a client of it.
fn is_of_browser(request: &Request) -> bool {
    let path = request.uri().path();
    let rest = path.strip_prefix(V1);
    let is_of_api = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let accepted = request.headers().get_all(header::ACCEPT).iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    matches!(*request.method(), Method::GET | Method::HEAD)
        && !is_of_api
        && accepted.any(|value| value.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_lead_to_the_operation() {
        assert_eq!(meant("/v1/sources/"), Some("`GET /v1/users/me/sources`"));
        assert_eq!(meant("/sources"), meant("/v1/sources"));
        assert_eq!(meant("/v1/nothing"), None);
    }
}
