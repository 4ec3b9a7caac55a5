//! Files of lines of JSON, read part by part while they are sent.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::stream;
use headwater_platform::PlatformError;

/// The parts of a file.
pub(crate) trait Lines: Send + 'static {
    /// The next part, of whole lines; `None` at the end, and behind it.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, PlatformError>> + Send;
}

/// A file with these lines, of which the first are read at once: a file that cannot begin is told on a page.
///
/// # Errors
/// Those of the first part.
pub(crate) async fn file<L: Lines>(name: &str, mut lines: L) -> Result<Response, PlatformError> {
    let first = lines.next().await?;
    let has_any = first.is_some();
    let parts = stream::try_unfold((first, lines), move |(first, mut lines)| async move {
        let part = match first {
            Some(first) => Some(first),
            None if has_any => lines.next().await?,
            None => None,
        };
        Ok::<_, PlatformError>(part.map(|part| (part, (None, lines))))
    });
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/x-ndjson"),
    );
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let name = name.replace(|char| !is_plain(char), "_");
    let name = format!("attachment; filename=\"{name}.ndjson\"");
    if let Ok(name) = HeaderValue::try_from(name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}
