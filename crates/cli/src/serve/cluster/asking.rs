//! The request in which a node asks another one for its workers, and its answer: their headers, and bodies of pieces that are
//! written as the conversation goes on.

use std::{convert::Infallible, num::NonZeroUsize};

use axum::{body::Body, http::HeaderName};
use futures::stream;
use tokio::sync::mpsc;

/// The header with the word of a node that asks for workers.
pub(super) const WORD: HeaderName = HeaderName::from_static("headwater-workers");
/// The header with the name of the node that asks.
pub(super) const LEADER: HeaderName = HeaderName::from_static("headwater-leader");
/// The header with the number of its words about runs, which may be others in another build.
pub(super) const WORDS: HeaderName = HeaderName::from_static("headwater-words");
/// The header of the answer with the processors of the machine that lends.
pub(super) const PROCESSORS: HeaderName = HeaderName::from_static("headwater-processors");

/// The processors of this machine.
pub(super) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A body of the pieces, as they come.
pub(super) fn body_of(pieces: mpsc::UnboundedReceiver<bytes::Bytes>) -> Body {
    Body::from_stream(stream::unfold(pieces, |mut pieces| async {
        let piece = pieces.recv().await?;
        Some((Ok::<_, Infallible>(piece), pieces))
    }))
}
