//! Authentication of the API: `Authorization: Bearer <API_KEY>` on every request, whatever its path.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{
        Extensions, HeaderMap, HeaderValue, Method,
        header::{AUTHORIZATION, USER_AGENT},
    },
    middleware::Next,
    response::Response,
};
use headwater_platform::{Platform, PlatformError, Remote};

use crate::{error::ApiError, ingress::client_ip};

/// Lets only requests of known callers through; handlers find the caller as `Extension<Arc<Caller>>`.
pub(crate) async fn require_caller(
    State(platform): State<Arc<Platform>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = bearer(request.headers()).ok_or(PlatformError::Unauthenticated)?;
    let mut caller = platform.authenticate(key).await?;
    caller.from = remote(&platform, request.extensions(), request.headers());
    request.extensions_mut().insert(Arc::new(caller));
    Ok(next.run(request).await)
}

/// Carries requests that change something to their end, even if the client goes away meanwhile: a handler is dropped then,
/// and would leave a change between two states, or without its record.
pub(crate) async fn carry_out(
    State(platform): State<Arc<Platform>>,
    request: Request,
    next: Next,
) -> Response {
    match matches!(*request.method(), Method::GET | Method::HEAD) {
        true => next.run(request).await,
        false => platform.carry_out(next.run(request)).await,
    }
}

/// The program that sent a request.
pub(crate) fn remote(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> Remote {
    let agent = headers.get(USER_AGENT).map(HeaderValue::as_bytes);
    Remote::new(client_ip(platform, extensions, headers), agent)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.trim().split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_scheme_is_bearer_in_any_case() {
        for (value, key) in [
            ("Bearer k", Some("k")),
            ("bearer  k ", Some("k")),
            ("BEARER k", Some("k")),
            ("Bearer", None),
            ("Bearer ", None),
            ("Basic k", None),
            ("k", None),
        ] {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]);
            assert_eq!(bearer(&headers), key, "{value:?}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
