//! Request bodies: reading one up to its bound and within its time, and what all of them together
//! may take of the node's memory. The meaning of the bytes is the reader's business, and so is
//! whether the body is worth reading.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use bytes::BytesMut;
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::error::ApiError;

/// A body of up to this many bytes is small.
const SMALL_BYTES: usize = 64 * 1024;
/// The part of the room that only small bodies may take: large ones never keep them out.
const RESERVED_FOR_SMALL: usize = 4;
/// How long a body may take before its rate counts.
const RATE_COUNTS_AFTER: Duration = Duration::from_secs(10);
/// The least bytes per second, on average since the rate counts.
const LEAST_RATE: u64 = 1024;

/// The room that request bodies may take.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// Bytes of all bodies that are in memory.
    pub memory_bytes: usize,
    /// The time for one whole body.
    pub within: Duration,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 128 * 1024 * 1024,
            within: Duration::from_secs(120),
        }
    }
}

/// The room that all request bodies of the node share.
#[derive(Debug)]
pub(crate) struct Bodies {
    limits: BodyLimits,
    taken_bytes: AtomicUsize,
}

/// A body that has arrived. It takes its room for as long as this lives.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) bytes: Bytes,
    pub(crate) room: Room,
}

/// The room that one body takes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Room {
    bodies: Arc<Bodies>,
    bytes: usize,
}

impl Bodies {
    pub(crate) fn new(limits: BodyLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            taken_bytes: AtomicUsize::new(0),
        })
    }

    /// Bytes of the bodies that are in memory.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.taken_bytes.load(Ordering::Relaxed)
    }

    /// The whole body.
    ///
    /// # Errors
    /// `PayloadTooLarge` beyond `limit_bytes`, announced or real; `TooManyBodies` when there is no room;
    /// `BodyTooSlow` when it takes too long; `BrokenBody` when the client stops half-way.
    pub(crate) async fn read(
        self: &Arc<Self>,
        body: Body,
        limit_bytes: usize,
    ) -> Result<Arrived, ApiError> {
        let mut room = self.room();
        if body.is_end_stream() {
            let bytes = Bytes::new();
            return Ok(Arrived { bytes, room });
        }
        let too_large = || ApiError::PayloadTooLarge { limit_bytes };
        if body.size_hint().lower() > limit_bytes as u64 {
            return Err(too_large());
        }
        let begun = Instant::now();
        let mut chunks = body.into_data_stream();
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        loop {
            let due = begun + self.limits.time_for(room.bytes);
            let too_slow = |_| ApiError::BodyTooSlow;
            let next = timeout_at(due, chunks.next()).await.map_err(too_slow)?;
            let Some(chunk) = next else { break };
            let chunk = chunk.map_err(|error| ApiError::BrokenBody(error.to_string()))?;
            if room.bytes + chunk.len() > limit_bytes {
                return Err(too_large());
            }
            room.grow(chunk.len())?;
            // Small bodies arrive in one piece and are not copied.
            if first.is_empty() && whole.is_empty() {
                first = chunk;
            } else {
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&chunk);
            }
        }
        let bytes = match whole.is_empty() {
            true => first,
            false => whole.freeze(),
        };
        Ok(Arrived { bytes, room })
    }

    fn room(self: &Arc<Self>) -> Room {
        Room {
            bodies: Arc::clone(self),
            bytes: 0,
        }
    }
}

impl BodyLimits {
    /// How long a body may have taken to which no more than these bytes have arrived.
    fn time_for(&self, arrived_bytes: usize) -> Duration {
        let at_least_rate = Duration::from_secs(arrived_bytes as u64 / LEAST_RATE);
        self.within.min(RATE_COUNTS_AFTER + at_least_rate)
    }

    /// The bytes that bodies may take together before one of this size gets no more.
    fn bound_for(&self, size: usize) -> usize {
        match size <= SMALL_BYTES {
            true => self.memory_bytes,
            false => self.memory_bytes - self.memory_bytes / RESERVED_FOR_SMALL,
        }
    }
}

impl Room {
    /// Takes room for more of the body. Nothing waits for room: bodies that wait hold what they have.
    fn grow(&mut self, more: usize) -> Result<(), ApiError> {
        let bound = self.bodies.limits.bound_for(self.bytes + more);
        let grown = |taken: usize| taken.checked_add(more).filter(|taken| *taken <= bound);
        let taken = &self.bodies.taken_bytes;
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown)
            .map_err(|_| ApiError::TooManyBodies)?;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.bodies
            .taken_bytes
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The way of one request to the shared room, for handlers that read its body.
#[derive(Debug, Clone)]
pub(crate) struct RequestBody {
    bodies: Arc<Bodies>,
    /// Kept until the request has been answered: what a body became takes no less than the body.
    room: Arc<Mutex<Option<Room>>>,
}

impl RequestBody {
    pub(crate) fn new(bodies: &Arc<Bodies>) -> Self {
        Self {
            bodies: Arc::clone(bodies),
            room: Arc::default(),
        }
    }

    /// The whole body; [`Bodies::read`] says how it fails.
    pub(crate) async fn read(&self, body: Body, limit_bytes: usize) -> Result<Bytes, ApiError> {
        let Arrived { bytes, room } = self.bodies.read(body, limit_bytes).await?;
        *self.room.lock() = Some(room);
        Ok(bytes)
    }
}

/// Lets the request's handler read its body: as `Extension<RequestBody>`.
pub(crate) async fn let_read(
    State(bodies): State<Arc<Bodies>>,
    mut request: Request,
    next: Next,
) -> Response {
    let body = RequestBody::new(&bodies);
    request.extensions_mut().insert(body.clone());
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(memory_bytes: usize) -> Arc<Bodies> {
        Bodies::new(BodyLimits {
            memory_bytes,
            ..BodyLimits::default()
        })
    }

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
            let body = bodies(100).read(chunked(chunks), 3).await.unwrap();
            assert_eq!(body.bytes, chunks.concat());
        }
    }

    #[tokio::test]
    async fn announced_and_real_size_are_bounded() {
        for body in [chunked(&["ab", "cd"]), Body::from("abcd")] {
            let refused = bodies(100).read(body, 3).await;
            assert!(matches!(
                refused,
                Err(ApiError::PayloadTooLarge { limit_bytes: 3 })
            ));
        }
    }

    #[tokio::test]
    async fn bodies_share_a_room_and_give_it_back() {
        let bodies = bodies(4);
        let read = |text: &'static str| bodies.read(Body::from(text), 100);
        let first = read("abc").await.unwrap();
        assert!(matches!(read("de").await, Err(ApiError::TooManyBodies)));
        assert_eq!(bodies.taken_bytes(), 3);
        let second = read("d").await.unwrap();
        drop((first, second));
        assert_eq!(bodies.taken_bytes(), 0);
        read("abcd").await.unwrap();
    }

    #[tokio::test]
    async fn large_bodies_leave_room_for_small_ones() {
        let bodies = bodies(8 * SMALL_BYTES);
        let read = |size: usize| bodies.read(Body::from(vec![0; size]), usize::MAX);
        let large = read(6 * SMALL_BYTES).await.unwrap();
        let refused = read(SMALL_BYTES + 1).await;
        assert!(matches!(refused, Err(ApiError::TooManyBodies)));
        let small = read(SMALL_BYTES).await.unwrap();
        drop((large, small));
    }

    #[test]
    fn time_is_for_those_that_arrive() {
        let limits = BodyLimits {
            within: Duration::from_secs(60),
            ..BodyLimits::default()
        };
        for (arrived_bytes, seconds) in [(0, 10), (1024, 11), (20 * 1024, 30), (1 << 20, 60)] {
            let time = limits.time_for(arrived_bytes);
            assert_eq!(time, Duration::from_secs(seconds), "{arrived_bytes}");
        }
    }
}
