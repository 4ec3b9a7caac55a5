//! Requests that may act: those of the node's own pages, and of nobody else who makes a browser send them.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use url::form_urlencoded;

use crate::{problem::Problem, state::Ui, visit::host_of};

/// Refuses requests under a host that is not the node's, and those that would change something or read a stream and
/// come from pages of another origin.
pub(crate) async fn check(State(ui): State<Arc<Ui>>, request: Request, next: Next) -> Response {
    let host = host_of(&request);
    if !ui.is_own_host(&host) {
        return Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "This is not the address of this node",
            format!(
                "The browser came under the name `{host}`. Open the node's public URL instead, or start the node with \
                 --public-url if this is its address."
            ),
        )
        .bare()
        .into_response();
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if (!reads || is_of_script(request.uri())) && !is_same_origin(request.headers(), &host) {
        return Problem::new(
            StatusCode::FORBIDDEN,
            "This was sent by a page of another site",
            "Nothing was changed. Go to the page of this node where the button is, and press it there.",
        )
        .bare()
        .into_response();
    }
    next.run(request).await
}

/// Whether the script of a page asks: for a stream, for names, or to wait for the end of something.
fn is_of_script(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    let waits = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "wait");
    match uri.path() {
        "/live" | "/search/names" => true,
        path => waits && path.starts_with("/accounts/connects/"),
    }
}

/// Whether a page of the same origin sent the request. Browsers say so themselves where the connection is safe; elsewhere
/// they name the origin, which then must be the host that they came under.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let origin = headers
        .get(header::ORIGIN)
        .and_then(|origin| origin.to_str().ok());
    let authority = origin
        .and_then(|origin| origin.parse::<Uri>().ok())
        .and_then(|origin| origin.authority().map(ToString::to_string));
    // A stream is read without `Origin`, but with the page's address.
    let referer = headers
        .get(header::REFERER)
        .and_then(|page| page.to_str().ok());
    let page = referer
        .and_then(|page| page.parse::<Uri>().ok())
        .and_then(|page| page.authority().map(ToString::to_string));
    let named = match origin {
        Some(_) => authority,
        None => page,
    };
    named.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn is_let_through(headers: &[(&'static str, &str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        is_same_origin(&headers.collect(), "node:3000")
    }

    #[test]
    fn answers_to_script_are_not_for_other_sites() {
        for (address, expected) in [
            ("/live?of=changes:sources", true),
            ("/search/names?q=a", true),
            ("/accounts/connects/con_1?wait=25", true),
            // A person may come to it from anywhere.
            ("/accounts/connects/con_1", false),
            ("/search?q=a", false),
            ("/sources?wait=1", false),
        ] {
            assert_eq!(
                is_of_script(&address.parse().unwrap()),
                expected,
                "{address}"
            );
        }
    }

    #[test]
    fn only_pages_of_the_same_origin_act() {
        for (headers, expected) in [
            (&[("sec-fetch-site", "same-origin")][..], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "none")], false),
            // The browser's own word counts before an origin.
            (
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("origin", "http://node:3000"),
                ],
                false,
            ),
            (&[("origin", "http://node:3000")], true),
            (&[("origin", "http://node:3001")], false),
            (&[("origin", "http://other:3000")], false),
            // A page in a sandbox, such as one that an endpoint answers.
            (
                &[("origin", "null"), ("referer", "http://node:3000/e/token")],
                false,
            ),
            (&[("referer", "http://node:3000/sources")], true),
            (&[("referer", "http://other/")], false),
            (&[], false),
        ] {
            assert_eq!(is_let_through(headers), expected, "{headers:?}");
        }
    }
}
