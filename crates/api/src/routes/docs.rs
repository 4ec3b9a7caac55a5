//! `/openapi.json` and `/docs`: the API, described for programs and for people. Open to everybody: they
//! tell nothing of the things on the node.

use std::{
    io::{self, Write as _},
    sync::{Arc, OnceLock},
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::{docs::html, page::guarded};

/// The page about a node's API; put together when somebody first asks.
#[derive(Debug)]
pub(crate) struct Described {
    public_url: String,
    document: fn(&str) -> Value,
    json: OnceLock<Text>,
    page: OnceLock<Text>,
}

/// A text, and the same compressed.
#[derive(Debug)]
struct Text {
    media_type: &'static str,
    plain: Bytes,
    gzip: Bytes,
}

impl Described {
    /// The page about a node at this URL, of which `document` is the API's document.
    pub(crate) fn new(public_url: &str, document: fn(&str) -> Value) -> Self {
        Self {
            public_url: public_url.to_owned(),
            document,
            json: OnceLock::new(),
            page: OnceLock::new(),
        }
    }

    fn json(&self) -> &Text {
        let written = || (self.document)(&self.public_url).to_string();
        self.json
            .get_or_init(|| Text::new("application/json", written()))
    }

    fn page(&self) -> &Text {
        let written = || html(&(self.document)(&self.public_url));
        self.page
            .get_or_init(|| Text::new("text/html; charset=utf-8", written()))
    }
}

impl Text {
    fn new(media_type: &'static str, text: String) -> Self {
        let gzip = compressed(text.as_bytes()).expect("memory takes all that is written");
        Self {
            media_type,
            plain: text.into(),
            gzip: gzip.into(),
        }
    }

    /// As whoever asked reads it.
    fn for_reader(&self, asked: &HeaderMap) -> Response {
        let takes_gzip = takes_gzip(asked);
        let bytes = if takes_gzip { &self.gzip } else { &self.plain };
        let mut response = Response::new(Body::from(bytes.clone()));
        let headers = response.headers_mut();
        let media_type = HeaderValue::from_static(self.media_type);
        headers.insert(header::CONTENT_TYPE, media_type);
        let accept_encoding = HeaderValue::from_static("accept-encoding");
        headers.insert(header::VARY, accept_encoding);
        if takes_gzip {
            let gzip = HeaderValue::from_static("gzip");
            headers.insert(header::CONTENT_ENCODING, gzip);
        }
        response
    }
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Whether `Accept-Encoding` names gzip and does not give it the weight nought.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).into_iter();
    let texts = lines.filter_map(|line| line.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let refuses = |part: &str| {
            let weight = part.strip_prefix("q=").map(str::parse::<f32>);
            weight.is_some_and(|weight| weight == Ok(0.0))
        };
        is_gzip && !parts.any(refuses)
    })
}

/// Returns the OpenAPI document
///
/// The OpenAPI 3.1 document, with this node's address as its server.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "Node",
    security(()),
    responses((status = 200, description = "The document.", body = Object)),
)]
pub(crate) async fn json(State(described): State<Arc<Described>>, asked: HeaderMap) -> Response {
    described.json().for_reader(&asked)
}

/// Shows the API documentation
///
/// This page.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "docs",
    tag = "Node",
    security(()),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html; charset=utf-8")),
)]
pub(crate) async fn page(State(described): State<Arc<Described>>, asked: HeaderMap) -> Response {
    guarded(described.page().for_reader(&asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_for_those_who_take_it() {
        for (given, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000, br", false),
            ("identity", false),
            ("", false),
        ] {
            let value = HeaderValue::from_static(given);
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]);
            assert_eq!(takes_gzip(&headers), takes, "{given}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
