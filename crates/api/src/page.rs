//! Answers that a browser shows as pages of the node itself, and the rights of the browser with them.

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse as _, Response},
};

const STYLE: &str = include_str!("page/style.css");

/// No script, nothing from elsewhere, and in no frame. The styles are the page's own.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// Guards a page.
pub(crate) fn guarded(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// Status, title and text of a page that says one thing.
pub(crate) type Told = (StatusCode, &'static str, &'static str);

/// A page that says one thing, to whoever has a token. It is different later, so that nobody keeps it.
pub(crate) fn told((status, title, text): Told) -> Response {
    passing(status, title, &format!("<p>{text}</p>\n"))
}

/// A page that asks one thing, with a form as HTML.
pub(crate) fn asked(question: &str, form: &str) -> Response {
    passing(StatusCode::OK, question, form)
}

fn passing(status: StatusCode, title: &str, content: &str) -> Response {
    let content = format!("<h1>{title}</h1>\n{content}");
    let mut response = guarded((status, Html(html(title, &content))).into_response());
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

/// A page of a few lines. Title and content are HTML.
pub(crate) fn html(title: &str, content: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n</body>\n</html>\n"
    )
}
