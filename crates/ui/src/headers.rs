//! The rules that browsers hold pages to.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The headers of every page, besides its policy.
const HEADERS: [(HeaderName, &str); 8] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`, which would take the origin from forms, too.
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::VARY, "Cookie, Accept-Encoding"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), payment=()",
    ),
];

/// Puts a page under its policy. Scripts and styles need the page's nonce: `'self'` would let in what a component answers
/// at its endpoint.
pub(crate) fn guard(headers: &mut HeaderMap, nonce: &str) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self' data:; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types headwater"
    );
    let policy = HeaderValue::try_from(policy).expect("a nonce is ASCII");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
}
