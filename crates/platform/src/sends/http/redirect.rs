//! Redirects: the next request of an answer that points elsewhere, without credentials for another host.

use headwater_model::webhook::AttemptFailure;
use reqwest::{
    Method, StatusCode,
    header::{self, HeaderMap},
};

use crate::{
    credential_names::is_credential,
    outbound::{NoAnswer, Outbound},
};

/// The request that an answer asks for; none if the answer is the last one.
///
/// # Errors
/// It points to something that is not HTTP.
pub(super) fn next(
    hop: &Outbound,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Outbound>, NoAnswer> {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = headers.get(header::LOCATION);
    let Some(location) = location.filter(|_| is_redirect) else {
        return Ok(None);
    };
    let location = String::from_utf8_lossy(location.as_bytes());
    let Ok(mut url) = hop.url.join(&location) else {
        return Ok(None);
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(NoAnswer {
            reason: "redirected to something that is not HTTP".to_owned(),
            is_refused: true,
            failure: AttemptFailure::Redirect,
        });
    }
    // Fails for URLs without a host, which have no user.
    let _ = (url.set_username(""), url.set_password(None));
    let mut next = Outbound { url, ..hop.clone() };
    if is_read_instead(status, &hop.method) {
        next.method = Method::GET;
        next.body.clear();
        let of_body = |name: &str| name.starts_with("content-");
        retain(&mut next.headers, |name| !of_body(name));
    }
    if next.url.origin() != hop.url.origin() {
        retain(&mut next.headers, |name| !is_credential(name));
    }
    Ok(Some(next))
}

/// Whether the next request reads the other place instead of sending everything there again.
fn is_read_instead(status: StatusCode, method: &Method) -> bool {
    match status {
        StatusCode::SEE_OTHER => *method != Method::HEAD && *method != Method::GET,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *method == Method::POST,
        _ => false,
    }
}

fn retain(headers: &mut HeaderMap, is_kept: impl Fn(&str) -> bool) {
    let dropped: Vec<_> = headers
        .keys()
        .filter(|name| !is_kept(name.as_str()))
        .cloned()
        .collect();
    for name in dropped {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use url::Url;

    use super::*;

    fn hop(method: Method) -> Outbound {
        let headers = [
            ("authorization", "Bearer hush"),
            ("x-api-key", "hush"),
            ("content-type", "text/plain"),
            ("idempotency-key", "1"),
        ];
        Outbound {
            method,
            url: Url::parse("https://a.example/from?x=1").unwrap(),
            headers: headers
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
                .into_iter()
                .collect(),
            body: Bytes::from_static(b"hello"),
        }
    }

    fn redirected(method: Method, status: u16, location: &str) -> Option<Outbound> {
        let headers = HeaderMap::from_iter([(header::LOCATION, location.parse().unwrap())]);
        let status = StatusCode::from_u16(status).unwrap();
        next(&hop(method), status, &headers).unwrap()
    }

    fn names(request: &Outbound) -> Vec<&str> {
        let mut names: Vec<_> = request.headers.keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn method_and_body_stay_unless_the_answer_is_to_be_read() {
        for (method, status, then) in [
            (Method::POST, 301, Method::GET),
            (Method::POST, 302, Method::GET),
            (Method::PUT, 302, Method::PUT),
            (Method::PUT, 303, Method::GET),
            (Method::HEAD, 303, Method::HEAD),
            (Method::POST, 307, Method::POST),
            (Method::POST, 308, Method::POST),
        ] {
            let next = redirected(method.clone(), status, "/to").unwrap();
            assert_eq!(next.method, then, "{method} {status}");
            assert_eq!(next.url.as_str(), "https://a.example/to");
            assert_eq!(
                next.body.is_empty(),
                then == Method::GET,
                "{method} {status}"
            );
            let has_type = next.headers.contains_key("content-type");
            assert_eq!(has_type, then != Method::GET, "{method} {status}");
            assert!(next.headers.contains_key("authorization"));
        }
    }

    #[test]
    fn another_host_port_or_scheme_gets_no_credentials() {
        for location in [
            "https://b.example/",
            "https://a.example:8443/",
            "http://a.example/",
            "//u:p@b.example/",
        ] {
            let next = redirected(Method::POST, 307, location).unwrap();
            assert_eq!(
                names(&next),
                ["content-type", "idempotency-key"],
                "{location}"
            );
            assert_eq!(next.url.username(), "");
        }
    }

    #[test]
    fn an_answer_that_points_nowhere_is_the_last() {
        assert!(redirected(Method::GET, 304, "/to").is_none());
        assert!(redirected(Method::GET, 200, "/to").is_none());
        assert!(redirected(Method::GET, 302, "https://").is_none());
        let none = next(&hop(Method::GET), StatusCode::FOUND, &HeaderMap::new());
        assert!(none.unwrap().is_none());
    }

    #[test]
    fn only_http_is_followed() {
        let headers = HeaderMap::from_iter([(header::LOCATION, "file:///etc/x".parse().unwrap())]);
        let refused = next(&hop(Method::GET), StatusCode::FOUND, &headers).unwrap_err();
        assert!(refused.is_refused);
    }
}
