//! Request bodies: reading one up to its bound and within its time, and the share of the node's memory
//! that all of them, and those of one user, may take. The meaning of the bytes is the reader's
//! business, and so is whether the body is worth reading.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use bytes::BytesMut;
use futures::{StreamExt, stream};
use headwater_model::{
    id::UserId,
    limits::{API_BODY_BYTES, INGRESS_BODY_BYTES, INGRESS_EVENT_BYTES},
};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::error::ApiError;

/// A body of up to this many bytes is small.
const SMALL_BYTES: usize = 64 * 1024;
/// The part of the room that only small bodies may take: large ones never keep them out.
const RESERVED_FOR_SMALL: usize = 4;
/// The part of the room that the bodies of one user may take.
const SHARE: usize = 2;
/// The time that a body may take before its rate counts.
const RATE_COUNTS_AFTER: Duration = Duration::from_secs(10);
/// The least bytes per second, on average since the rate counts.
const LEAST_RATE: u64 = 1024;

/// The one whose share a body takes: the user who sends it, or the owner of the endpoint that it is sent to. Nobody
/// at pages that need no key.
pub(crate) type Holder = Option<UserId>;

/// The room that request bodies may take.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// Bytes of all bodies, and of the events created from them, that are in memory.
    pub memory_bytes: usize,
    /// The time for one whole body.
    pub within: Duration,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 * 1024 * 1024,
            within: Duration::from_secs(120),
        }
    }
}

/// The room that all request bodies of the node share.
#[derive(Debug)]
pub(crate) struct Bodies {
    limits: BodyLimits,
    taken: Mutex<Taken>,
}

/// The room that is taken.
#[derive(Debug, Default)]
struct Taken {
    bytes: usize,
    by_holder: HashMap<Holder, usize>,
}

/// A body that has arrived. It takes its room for as long as this lives.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) bytes: Bytes,
    pub(crate) room: Room,
}

/// The room that one body and its event take; given back when dropped.
#[derive(Debug)]
pub(crate) struct Room {
    bodies: Arc<Bodies>,
    holder: Holder,
    /// The size of the body so far.
    body_bytes: usize,
    /// All that it has taken and not given back.
    bytes: usize,
}

impl Bodies {
    pub(crate) fn new(limits: BodyLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            taken: Mutex::default(),
        })
    }

    /// Bytes of the bodies, and of the events created from them, that are in memory.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.taken.lock().bytes
    }

    /// The whole body.
    ///
    /// # Errors
    /// `PayloadTooLarge` beyond `limit_bytes`, announced or real; `TooManyBodies` when there is no room;
    /// `BodyTooSlow` when it takes too long; `BrokenBody` when the client stops half-way.
    pub(crate) async fn read(
        self: &Arc<Self>,
        holder: Holder,
        body: Body,
        limit_bytes: usize,
    ) -> Result<Arrived, ApiError> {
        let mut room = self.room(holder);
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
            let due = begun + self.limits.time_for(room.body_bytes);
            let too_slow = |_| ApiError::BodyTooSlow;
            let next = timeout_at(due, chunks.next()).await.map_err(too_slow)?;
            let Some(chunk) = next else { break };
            let chunk = chunk.map_err(|error| ApiError::BrokenBody(error.to_string()))?;
            if room.body_bytes + chunk.len() > limit_bytes {
                return Err(too_large());
            }
            room.body_bytes += chunk.len();
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

    /// The body as it is read by somebody who gathers it: within the same bounds, and in the same room, which is taken
    /// until `room` is dropped.
    fn metered(self: &Arc<Self>, body: Body, limit_bytes: usize, room: Arc<Mutex<Room>>) -> Body {
        let limits = self.limits;
        let begun = Instant::now();
        let chunks = body.into_data_stream();
        let metered = stream::try_unfold((chunks, room), move |(mut chunks, room)| async move {
            let due = begun + limits.time_for(room.lock().body_bytes);
            let next = timeout_at(due, chunks.next()).await;
            let Some(chunk) = next.map_err(|_| BodyError("the body did not arrive in time"))?
            else {
                return Ok::<_, BodyError>(None);
            };
            let chunk = chunk.map_err(|_| BodyError("the body did not arrive whole"))?;
            let mut held = room.lock();
            held.body_bytes += chunk.len();
            if held.body_bytes > limit_bytes {
                return Err(BodyError("the body is too large"));
            }
            let grown = held.grow(chunk.len());
            grown.map_err(|_| BodyError("other requests take all the memory; try again"))?;
            drop(held);
            Ok(Some((chunk, (chunks, room))))
        });
        Body::from_stream(metered)
    }

    fn room(self: &Arc<Self>, holder: Holder) -> Room {
        Room {
            bodies: Arc::clone(self),
            holder,
            body_bytes: 0,
            bytes: 0,
        }
    }
}

impl BodyLimits {
    /// The least `memory_bytes` with which every request that is permitted fits into one user's share.
    pub fn least_memory_bytes() -> usize {
        let largest = API_BODY_BYTES.max(INGRESS_BODY_BYTES + INGRESS_EVENT_BYTES);
        (largest * SHARE * RESERVED_FOR_SMALL).div_ceil(RESERVED_FOR_SMALL - 1)
    }

    /// The time that a body may have taken of which only these bytes have arrived.
    fn time_for(&self, arrived_bytes: usize) -> Duration {
        let at_least_rate = Duration::from_secs(arrived_bytes as u64 / LEAST_RATE);
        self.within.min(RATE_COUNTS_AFTER + at_least_rate)
    }

    /// The bytes that bodies may take together before a small or a large one gets no more.
    fn bound_for(&self, is_small: bool) -> usize {
        match is_small {
            true => self.memory_bytes,
            false => self.memory_bytes - self.memory_bytes / RESERVED_FOR_SMALL,
        }
    }
}

impl Taken {
    /// Takes so many bytes more, if neither all bodies nor the holder's take more than they may.
    fn take(&mut self, holder: &Holder, more: usize, bound: usize) -> bool {
        let held = self.by_holder.get_mut(holder);
        let held_bytes = held.as_ref().map_or(0, |held| **held);
        if self.bytes + more > bound || held_bytes + more > bound / SHARE {
            return false;
        }
        self.bytes += more;
        match held {
            Some(held) => *held += more,
            None => {
                self.by_holder.insert(holder.clone(), more);
            }
        }
        true
    }

    fn give_back(&mut self, holder: &Holder, bytes: usize) {
        self.bytes -= bytes;
        if let Some(held) = self.by_holder.get_mut(holder) {
            *held -= bytes;
            if *held == 0 {
                self.by_holder.remove(holder);
            }
        }
    }
}

impl Room {
    /// Whether the body is one that large ones do not keep out. Then its event is not kept out either.
    pub(crate) fn is_small(&self) -> bool {
        self.body_bytes <= SMALL_BYTES
    }

    /// Takes room for more of the body, or for its event. Nothing waits for room: bodies that wait hold
    /// what they have.
    ///
    /// # Errors
    /// `TooManyBodies` when there is none.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), ApiError> {
        let bound = self.bodies.limits.bound_for(self.is_small());
        let mut taken = self.bodies.taken.lock();
        if more > 0 && !taken.take(&self.holder, more, bound) {
            return Err(ApiError::TooManyBodies);
        }
        self.bytes += more;
        Ok(())
    }

    /// Takes room for what the body unpacks to. That is as large as any other body.
    ///
    /// # Errors
    /// `TooManyBodies` when there is none.
    fn unpack(&mut self, more: usize) -> Result<(), ApiError> {
        self.body_bytes += more;
        self.grow(more)
    }

    /// Gives back the room of the body itself: only its event is left.
    pub(crate) fn drop_body(&mut self) {
        let body_bytes = std::mem::take(&mut self.body_bytes);
        let mut taken = self.bodies.taken.lock();
        taken.give_back(&self.holder, body_bytes);
        self.bytes -= body_bytes;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut taken = self.bodies.taken.lock();
        taken.give_back(&self.holder, self.bytes);
    }
}

/// The way of one request to the shared room, for handlers that read its body.
#[derive(Debug, Clone)]
pub(crate) struct RequestBody {
    bodies: Arc<Bodies>,
    /// Kept until the request has been answered: an event takes no less than its body.
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
    pub(crate) async fn read(
        &self,
        holder: Holder,
        body: Body,
        limit_bytes: usize,
    ) -> Result<Bytes, ApiError> {
        let arrived = self.bodies.read(holder, body, limit_bytes).await?;
        let Arrived { bytes, room } = arrived;
        *self.room.lock() = Some(room);
        Ok(bytes)
    }

    /// Takes room for so many bytes that the body unpacks to, beside the body itself.
    ///
    /// # Errors
    /// `TooManyBodies` when there is none.
    pub(crate) fn unpack(&self, more: usize) -> Result<(), ApiError> {
        match self.room.lock().as_mut() {
            Some(room) => room.unpack(more),
            None => Ok(()),
        }
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

/// Why a body that is gathered elsewhere ends early.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BodyError(&'static str);

/// Keeps the body of a request to the node's bounds while a page reads it, if it does.
pub(crate) async fn meter(
    State(bodies): State<Arc<Bodies>>,
    request: Request,
    next: Next,
) -> Response {
    let room = Arc::new(Mutex::new(bodies.room(None)));
    let request = request.map(|body| match body.is_end_stream() {
        true => body,
        false => bodies.metered(body, API_BODY_BYTES, Arc::clone(&room)),
    });
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

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
            let body = bodies(100).read(None, chunked(chunks), 3).await.unwrap();
            assert_eq!(body.bytes, chunks.concat());
        }
    }

    #[tokio::test]
    async fn announced_and_real_size_are_bounded() {
        for body in [chunked(&["ab", "cd"]), Body::from("abcd")] {
            let refused = bodies(100).read(None, body, 3).await;
            assert!(matches!(
                refused,
                Err(ApiError::PayloadTooLarge { limit_bytes: 3 })
            ));
        }
    }

    fn user(number: u128) -> Holder {
        Some(UserId::new(EpochMs(0), number << 64))
    }

    #[tokio::test]
    async fn bodies_share_a_room_and_give_it_back() {
        let bodies = bodies(8);
        let read = |number, text: &'static str| bodies.read(user(number), Body::from(text), 100);
        let first = (
            read(1, "abcd").await.unwrap(),
            read(2, "abc").await.unwrap(),
        );
        assert!(matches!(read(3, "de").await, Err(ApiError::TooManyBodies)));
        assert_eq!(bodies.taken_bytes(), 7);
        let last = read(3, "d").await.unwrap();
        drop((first, last));
        assert_eq!(bodies.taken_bytes(), 0);
        assert!(bodies.taken.lock().by_holder.is_empty());
        read(3, "abcd").await.unwrap();
    }

    #[tokio::test]
    async fn nobody_has_more_than_half_of_the_room() {
        let bodies = bodies(8);
        let read = |holder, text: &'static str| bodies.read(holder, Body::from(text), 100);
        for holder in [user(1), None] {
            let refused = read(holder.clone(), "abcde").await;
            assert!(matches!(refused, Err(ApiError::TooManyBodies)));
            let first = read(holder.clone(), "abc").await.unwrap();
            assert!(matches!(
                read(holder.clone(), "de").await,
                Err(ApiError::TooManyBodies)
            ));
            let (second, of_another) = (read(holder, "d").await, read(user(2), "abcd").await);
            drop((first, second.unwrap(), of_another.unwrap()));
        }
    }

    #[tokio::test]
    async fn large_bodies_leave_room_for_small_ones() {
        let bodies = bodies(8 * SMALL_BYTES);
        let read = |number, size| bodies.read(user(number), Body::from(vec![0; size]), usize::MAX);
        let large = (
            read(1, 3 * SMALL_BYTES).await.unwrap(),
            read(2, 3 * SMALL_BYTES).await.unwrap(),
        );
        for number in [1, 3] {
            let refused = read(number, SMALL_BYTES + 1).await;
            assert!(matches!(refused, Err(ApiError::TooManyBodies)), "{number}");
            let mut small = read(number, SMALL_BYTES / 2).await.unwrap();
            small.room.grow(SMALL_BYTES / 2).unwrap();
        }
        drop(large);
    }

    #[tokio::test]
    async fn what_a_body_becomes_takes_its_place() {
        let bodies = bodies(20);
        let mut body = bodies.read(user(1), Body::from("abc"), 100).await.unwrap();
        assert!(matches!(body.room.grow(8), Err(ApiError::TooManyBodies)));
        body.room.grow(7).unwrap();
        assert_eq!(bodies.taken_bytes(), 10);
        body.room.drop_body();
        assert_eq!(bodies.taken_bytes(), 7);
        drop(body);
        assert_eq!(bodies.taken_bytes(), 0);
    }

    #[tokio::test]
    async fn what_unpacks_to_much_is_not_small() {
        let bodies = bodies(8 * SMALL_BYTES);
        let large = bodies.read(user(1), Body::from(vec![0; 3 * SMALL_BYTES]), usize::MAX);
        let large = large.await.unwrap();
        let request = RequestBody::new(&bodies);
        request.read(user(2), Body::from("abc"), 100).await.unwrap();
        request.unpack(SMALL_BYTES / 2).unwrap();
        let refused = request.unpack(3 * SMALL_BYTES);
        assert!(matches!(refused, Err(ApiError::TooManyBodies)));
        drop((request, large));
        assert_eq!(bodies.taken_bytes(), 0);
    }

    #[test]
    fn the_largest_request_fits_into_the_least_room() {
        for memory_bytes in [
            BodyLimits::least_memory_bytes(),
            BodyLimits::default().memory_bytes,
        ] {
            let bodies = bodies(memory_bytes);
            for (body, becomes) in [
                (API_BODY_BYTES, API_BODY_BYTES),
                (INGRESS_BODY_BYTES, INGRESS_EVENT_BYTES),
            ] {
                let mut room = bodies.room(user(1));
                room.body_bytes = body;
                room.grow(body).unwrap();
                room.grow(becomes).unwrap();
            }
        }
        let bodies = bodies(BodyLimits::least_memory_bytes() - 8);
        let mut room = bodies.room(user(1));
        room.body_bytes = INGRESS_BODY_BYTES;
        assert!(room.grow(INGRESS_BODY_BYTES + INGRESS_EVENT_BYTES).is_err());
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
