//! Reading a request's body up to a bound. What the bytes mean is the reader's business.

use axum::body::{Body, Bytes, HttpBody};
use bytes::BytesMut;
use futures::StreamExt;

use crate::error::ApiError;

/// The whole body.
///
/// # Errors
/// `PayloadTooLarge` beyond `limit_bytes`, announced or real; `BrokenBody` when the client stops half-way.
pub(crate) async fn read(body: Body, limit_bytes: usize) -> Result<Bytes, ApiError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || ApiError::PayloadTooLarge { limit_bytes };
    if body.size_hint().lower() > limit_bytes as u64 {
        return Err(too_large());
    }
    let mut chunks = body.into_data_stream();
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| ApiError::BrokenBody(error.to_string()))?;
        if first.len() + whole.len() + chunk.len() > limit_bytes {
            return Err(too_large());
        }
        // Small bodies arrive in one piece and are not copied.
        if first.is_empty() && whole.is_empty() {
            first = chunk;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&chunk);
        }
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.freeze()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunked(chunks: &[&'static str]) -> Body {
        let chunks: Vec<_> = chunks
            .iter()
            .map(|chunk| Ok::<_, std::io::Error>(*chunk))
            .collect();
        Body::from_stream(futures::stream::iter(chunks))
    }

    #[tokio::test]
    async fn a_body_may_come_in_pieces() {
        for chunks in [&[][..], &["abc"], &["a", "b", "c"], &["", "abc", ""]] {
            let body = read(chunked(chunks), 3).await.unwrap();
            assert_eq!(body, chunks.concat());
        }
    }

    #[tokio::test]
    async fn announced_and_real_size_are_bounded() {
        for body in [chunked(&["ab", "cd"]), Body::from("abcd")] {
            let refused = read(body, 3).await;
            assert!(matches!(
                refused,
                Err(ApiError::PayloadTooLarge { limit_bytes: 3 })
            ));
        }
    }
}
