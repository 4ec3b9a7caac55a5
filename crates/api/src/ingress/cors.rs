//! Requests to workflows from pages of other origins: browsers may send them, and read the answer. Nothing of the caller
//! goes along: answers with credentials are not readable.

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

const ANY: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("GET,HEAD,PUT,PATCH,POST,DELETE");
/// The time that a browser may remember the answer, in seconds.
const REMEMBERED_S: HeaderValue = HeaderValue::from_static("600");

/// The answer to a browser that asks first.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let mut answer = |name: HeaderName, value| {
        response.headers_mut().insert(name, value);
    };
    answer(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    answer(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer(header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_S);
    if let Some(headers) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        answer(header::ACCESS_CONTROL_ALLOW_HEADERS, headers.clone());
    }
    response
}

/// An answer that pages of any origin may read, unless the workflow itself says who may.
pub(super) fn readable(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers
        .entry(header::ACCESS_CONTROL_ALLOW_ORIGIN)
        .or_insert(ANY);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_send_what_it_asks_for() {
        let mut asked = HeaderMap::new();
        let headers = HeaderValue::from_static("content-type,x-shop");
        asked.insert(header::ACCESS_CONTROL_REQUEST_HEADERS, headers.clone());
        let response = preflight(&asked);
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], ANY);
        assert_eq!(
            response.headers()[header::ACCESS_CONTROL_ALLOW_HEADERS],
            headers
        );
        let response = preflight(&HeaderMap::new());
        assert!(
            !response
                .headers()
                .contains_key(header::ACCESS_CONTROL_ALLOW_HEADERS)
        );
    }

    #[test]
    fn a_workflow_may_name_an_origin_itself() {
        let own = HeaderValue::from_static("https://shop.example");
        let mut response = StatusCode::OK.into_response();
        response
            .headers_mut()
            .insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, own.clone());
        let response = readable(response);
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], own);
        let response = readable(StatusCode::OK.into_response());
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], ANY);
    }
}
