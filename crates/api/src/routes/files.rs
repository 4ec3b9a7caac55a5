//! `/f/{token}`: files for whoever was given their URL. No key: the token is enough, and is not logged. Browsers save
//! them: nothing that somebody stored is shown as a page of this site.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, stream};
use headwater_platform::{FileContent, FileLink, PlatformError, StoredFile};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::ApiState;
use crate::{
    error::ApiError,
    extract::PathText,
    page::{Told, told},
};

/// Below this path every segment is a token.
pub(crate) const PREFIX: &str = "/f/";
/// Bytes of a file that one download holds in memory.
const PIECE_BYTES: usize = 256 * 1024;

const NOT_FOUND: Told = (
    StatusCode::NOT_FOUND,
    "Unknown file",
    "This node did not create the link, or the file was deleted. Check that the address is complete.",
);
const EXPIRED: Told = (
    StatusCode::GONE,
    "The link has expired",
    "Links to files are valid for half an hour, those to files of events as long as the files. Ask for a new one.",
);

/// Downloads a file.
pub(crate) async fn download(
    State(platform): ApiState,
    PathText(token): PathText<String>,
) -> Response {
    match platform.files().open(&token).await {
        Ok(FileLink::Found(content)) => send(content),
        Ok(FileLink::Expired) => told(EXPIRED),
        // Callers without credentials are not told which token was looked for.
        Err(PlatformError::NotFound { .. }) => told(NOT_FOUND),
        Err(error) => ApiError::Platform(error).into_response(),
    }
}

fn send(content: Box<dyn FileContent>) -> Response {
    let content: Arc<dyn FileContent> = Arc::from(content);
    let headers = headers(content.file());
    let mut response = Body::from_stream(pieces(content)).into_response();
    response.headers_mut().extend(headers);
    response
}

fn headers(file: &StoredFile) -> Vec<(HeaderName, HeaderValue)> {
    let name = utf8_percent_encode(file.path.name(), NON_ALPHANUMERIC);
    let texts = [
        (
            header::CONTENT_TYPE,
            content_type(file.path.name()).to_owned(),
        ),
        (header::CONTENT_LENGTH, file.size.to_string()),
        (header::ETAG, format!("\"{}\"", file.hash)),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename*=UTF-8''{name}"),
        ),
        (header::CONTENT_SECURITY_POLICY, "sandbox".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    let pairs = texts.into_iter();
    let headers = pairs.filter_map(|(name, text)| Some((name, text.parse().ok()?)));
    headers.collect()
}

/// The content type by the name, as receivers of URLs, such as the APIs of other services, ask for it.
fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("pdf") => "application/pdf",
        Some("json") => "application/json",
        Some("csv") => "text/csv; charset=utf-8",
        Some("txt" | "log" | "md") => "text/plain; charset=utf-8",
        Some("mp3") => "audio/mpeg",
        Some("wav") => "audio/wav",
        Some("mp4") => "video/mp4",
        Some("zip") => "application/zip",
        Some("eml") => "message/rfc822",
        _ => "application/octet-stream",
    }
}

/// The content, one piece in memory after the other.
fn pieces(content: Arc<dyn FileContent>) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    stream::try_unfold((content, 0), |(content, offset)| async move {
        if offset >= content.file().size {
            return Ok(None);
        }
        let piece = content.read(offset, PIECE_BYTES).await?;
        let next = offset + piece.len() as u64;
        Ok(Some((piece, (content, next))))
    })
}
