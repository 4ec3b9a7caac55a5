//! Pages as browsers take them: smaller, if they say that they can.

use std::io::Write as _;

use axum::http::{HeaderMap, HeaderValue, header};
use flate2::{Compression, write::GzEncoder};

/// Below this many bytes it is not worth it.
const LEAST_BYTES: usize = 1_024;

/// Whether the browser takes gzip.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING);
    let accepted = accepted
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let mut codings = accepted.split(',').map(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        (name.trim(), weight.trim())
    });
    codings.any(|(name, weight)| name.eq_ignore_ascii_case("gzip") && weight != "q=0")
}

/// The bytes of a body, and in the headers what became of them.
pub(crate) fn body(plain: Vec<u8>, is_accepted: bool, headers: &mut HeaderMap) -> Vec<u8> {
    if !is_accepted || plain.len() < LEAST_BYTES {
        return plain;
    }
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    gzip(&plain, Compression::fast())
}

/// The bytes compressed.
pub(crate) fn gzip(plain: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), level);
    encoder.write_all(plain).expect("memory takes every write");
    encoder.finish().expect("memory takes every write")
}
