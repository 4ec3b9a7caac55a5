//! A run's answer as the response to the request that triggered it.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{self, CONTENT_TYPE},
    },
    response::{Html, IntoResponse, Response},
};
use headwater_platform::Ingress;

use super::{Place, Sites};
use crate::error::{ApiError, Unanswered};

const ACCEPTED: &str = r#"{"success":true}"#;

/// The page that browsers show who sent a form to a workflow.
const SUCCESS: &str = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Success!</title></head>\n\
                       <body>\n<h1>Success!</h1>\n<p>The request has started a run of a workflow.</p>\n</body>\n</html>\n";

/// The response that tells how the request was taken.
pub(super) fn to(ingress: Ingress, sites: &Sites, place: Place<'_>) -> Response {
    match ingress {
        Ingress::Accepted => ([(CONTENT_TYPE, "application/json")], ACCEPTED).into_response(),
        Ingress::Responded(response) => responded(response, sites, place),
        Ingress::NoResponse => StatusCode::OK.into_response(),
        Ingress::Threw => ApiError::Unanswered(Unanswered::Threw).into_response(),
        Ingress::TimedOut => ApiError::Unanswered(Unanswered::TimedOut).into_response(),
        Ingress::AcceptedByWorkflow => Html(SUCCESS).into_response(),
        // A text, which axum sends as `text/plain`: Pipedream's clients compare it.
        Ingress::NoWorkflowResponse(text) => (StatusCode::BAD_REQUEST, text).into_response(),
        Ingress::Unauthorized => ApiError::NoBearer.into_response(),
    }
}

fn responded(given: headwater_platform::Response, sites: &Sites, place: Place<'_>) -> Response {
    // Components may respond with 100 to 199, but such a response never ends a request.
    let status = StatusCode::from_u16(given.status).ok();
    let Some(status) = status.filter(|status| !status.is_informational()) else {
        let why = Unanswered::Interim(given.status);
        return ApiError::Unanswered(why).into_response();
    };
    let has_body = !matches!(
        status,
        StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED
    );
    let body = if has_body {
        Body::from(given.body)
    } else {
        Body::empty()
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers(given.headers, sites, place);
    response
}

/// The component's headers without those that are the connection's or the node's, and without malformed ones.
fn headers(given: Vec<(String, String)>, sites: &Sites, place: Place<'_>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(given.len());
    for (name, value) in given {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::try_from(value.into_bytes()).ok());
        match parsed {
            Some((name, _)) if is_connections(&name) => {}
            Some((name, value)) => {
                if let Some(value) = sites.header(place, &name, value) {
                    headers.append(name, value);
                }
            }
            None => tracing::debug!(
                name,
                "a malformed response header of a component was dropped"
            ),
        }
    }
    headers
}

/// Whether the header is about this connection, or about the length, which is counted anew.
fn is_connections(name: &HeaderName) -> bool {
    const NAMES: [HeaderName; 6] = [
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ];
    NAMES.contains(name) || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn to(ingress: Ingress) -> Response {
        super::to(ingress, &Sites::default(), Place::Host)
    }

    fn given(status: u16, headers: &[(&str, &str)]) -> Response {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        to(Ingress::Responded(headwater_platform::Response {
            status,
            headers: headers.collect(),
            body: "body".into(),
        }))
    }

    #[test]
    fn headers_are_the_components_but_for_those_of_the_connection() {
        let response = given(
            201,
            &[
                ("X-A", "ü"),
                ("set-cookie", "a=1"),
                ("Set-Cookie", "b=2"),
                ("Content-Length", "9"),
                ("transfer-encoding", "chunked"),
                ("Connection", "close"),
                ("bad name", "x"),
                ("x-bad", "a\r\nx-injected: 1"),
            ],
        );
        assert_eq!(response.status(), 201);
        let shown: Vec<_> = response
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(
            shown,
            [
                ("x-a", "ü".as_bytes()),
                ("set-cookie", b"a=1"),
                ("set-cookie", b"b=2")
            ]
        );
    }

    #[tokio::test]
    async fn statuses_without_a_body_have_none() {
        for (status, body) in [
            (200, "body"),
            (204, ""),
            (304, ""),
            (404, "body"),
            (599, "body"),
        ] {
            let response = given(status, &[]);
            assert_eq!(response.status(), status);
            assert_eq!(to_bytes(response.into_body(), 10).await.unwrap(), body);
        }
    }

    #[tokio::test]
    async fn a_workflow_answers_browsers_with_a_page_and_others_with_a_line() {
        for (ingress, content_type, text) in [
            (
                Ingress::AcceptedByWorkflow,
                "text/html; charset=utf-8",
                "<h1>Success!</h1>",
            ),
            (
                Ingress::NoWorkflowResponse("none"),
                "text/plain; charset=utf-8",
                "none",
            ),
        ] {
            let response = to(ingress);
            assert_eq!(response.headers()[CONTENT_TYPE], content_type);
            let body = to_bytes(response.into_body(), 1000).await.unwrap();
            let body = String::from_utf8(body.to_vec()).unwrap();
            assert!(body.contains(text), "{body}");
        }
        let refused = to(Ingress::Unauthorized);
        assert_eq!(refused.headers()[header::WWW_AUTHENTICATE], "Bearer");
    }

    #[test]
    fn a_run_that_did_not_answer_gets_a_status_of_its_own() {
        for (ingress, status) in [
            (Ingress::Accepted, 200),
            (Ingress::NoResponse, 200),
            (Ingress::Threw, 500),
            (Ingress::TimedOut, 504),
            (Ingress::NoWorkflowResponse("none"), 400),
            (Ingress::Unauthorized, 401),
        ] {
            assert_eq!(to(ingress).status(), status);
        }
        assert_eq!(given(101, &[]).status(), 502);
    }
}
