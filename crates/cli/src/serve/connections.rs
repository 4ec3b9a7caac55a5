//! The connections that are open: how many there may be, which have a request, and which of the
//! others are closed because they wait too long or because a new one needs the room.
//!
//! A connection without a request costs its client nothing, so there may be thousands of them that
//! nobody means to use. They must neither keep others out nor take the descriptors that store,
//! workers and deliveries need. Speaking HTTP is `server`'s business.

mod watched;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use headwater_api::{Closed, ConnectionCounts};
use parking_lot::Mutex;
use rustix::net::sockopt;
use tokio::{net::TcpStream, task::AbortHandle, time::Instant};

pub(super) use self::watched::{Answered, Watched};

/// The time that a client may leave sent data unacknowledged or unread. A client that reads a stream of
/// events and is gone without a word, or never reads, would keep its connection for ever.
const UNREAD_WITHIN: Duration = Duration::from_secs(60);
/// Connections of which one is closed when a new one needs the room, unless all of them have requests.
const CANDIDATES: usize = 32;
/// The mark of a connection that does not wait.
const NEVER: u64 = u64::MAX;

/// Sends data at once, and gives up clients that take nothing.
pub(super) fn tune(stream: &TcpStream) {
    let timeout_ms = u32::try_from(UNREAD_WITHIN.as_millis()).unwrap_or(u32::MAX);
    let set = stream.set_nodelay(true);
    let set = set.and_then(|()| Ok(sockopt::set_tcp_user_timeout(stream, timeout_ms)?));
    if let Err(error) = set {
        tracing::debug!(%error, "a connection keeps the system's settings");
    }
}

/// The bounds of connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionLimits {
    /// Connections at once.
    pub(super) most: usize,
    /// The time for a request's head.
    pub(super) head: Duration,
    /// The time without a request.
    pub(super) idle: Duration,
}

/// The open connections.
pub(super) struct Connections {
    limits: ConnectionLimits,
    counts: ConnectionCounts,
    begun: Instant,
    /// The time since then as of the last look at all connections: reading a clock for each piece that
    /// is sent would cost more than the precision is worth.
    now_ms: AtomicU64,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    open: Vec<Arc<Connection>>,
    /// The place at which the next look for room begins.
    hand: usize,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Its place in the table, which others change when they leave.
    place: AtomicUsize,
    /// Requests that are not answered to the end.
    requests: AtomicU32,
    /// The time at which it last had a request or took a part of an answer.
    active_ms: AtomicU64,
    /// Since when a head has been expected or arriving.
    head_ms: AtomicU64,
    /// Whether it carries many requests at once, as HTTP/2 does.
    is_multiplexed: AtomicBool,
    /// Whether it has had a request.
    is_used: AtomicBool,
    task: Mutex<Option<AbortHandle>>,
}

/// A connection's place among the others; given up when dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    pub(super) connection: Arc<Connection>,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits, counts: ConnectionCounts) -> Arc<Self> {
        counts.allow(limits.most);
        Arc::new(Self {
            limits,
            counts,
            begun: Instant::now(),
            now_ms: AtomicU64::new(0),
            table: Mutex::default(),
        })
    }

    /// Room for a new connection, if need be that of the one which has gone longest without a request.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut table = self.table.lock();
        if table.open.len() >= self.limits.most && !self.make_room_in(&mut table) {
            self.counts.refused();
            return None;
        }
        let connection = Arc::new(Connection {
            place: AtomicUsize::new(table.open.len()),
            requests: AtomicU32::new(0),
            active_ms: AtomicU64::new(self.now_ms()),
            head_ms: AtomicU64::new(self.now_ms()),
            is_multiplexed: AtomicBool::new(false),
            is_used: AtomicBool::new(false),
            task: Mutex::new(None),
        });
        table.open.push(Arc::clone(&connection));
        self.counts.opened();
        Some(Place {
            connections: Arc::clone(self),
            connection,
        })
    }

    /// Closes the connection that has gone longest without a request; `false` if all have one.
    pub(super) fn make_room(&self) -> bool {
        self.make_room_in(&mut self.table.lock())
    }

    fn make_room_in(&self, table: &mut Table) -> bool {
        let Some(longest) = table.longest_idle() else {
            return false;
        };
        self.close(&longest, Closed::Room);
        self.take_out(table, &longest);
        true
    }

    /// Closes connections that have waited too long, again and again.
    pub(super) async fn watch(self: Arc<Self>) {
        let shortest = self.limits.head.min(self.limits.idle);
        let period = (shortest / 10).clamp(Duration::from_millis(10), Duration::from_secs(1));
        loop {
            tokio::time::sleep(period).await;
            let now_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(NEVER);
            self.now_ms.store(now_ms, Relaxed);
            self.close_late(now_ms);
        }
    }

    fn close_late(&self, now_ms: u64) {
        let mut table = self.table.lock();
        let late: Vec<_> = table
            .open
            .iter()
            .filter_map(|connection| {
                let reason = connection.is_late(now_ms, &self.limits)?;
                Some((Arc::clone(connection), reason))
            })
            .collect();
        for (connection, reason) in late {
            self.close(&connection, reason);
            self.take_out(&mut table, &connection);
        }
    }

    fn close(&self, connection: &Connection, reason: Closed) {
        self.counts.closed(reason);
        if let Some(task) = connection.task.lock().take() {
            task.abort();
        }
    }

    fn take_out(&self, table: &mut Table, connection: &Arc<Connection>) {
        let place = connection.place.load(Relaxed);
        let is_there = |found: &Arc<Connection>| Arc::ptr_eq(found, connection);
        if !table.open.get(place).is_some_and(is_there) {
            return;
        }
        table.open.swap_remove(place);
        if let Some(moved) = table.open.get(place) {
            moved.place.store(place, Relaxed);
        }
        self.counts.gone();
    }

    fn now_ms(&self) -> u64 {
        self.now_ms.load(Relaxed)
    }
}

impl Table {
    /// The connection without a request for the longest time, of a few; of all only if those have requests.
    fn longest_idle(&mut self) -> Option<Arc<Connection>> {
        let count = self.open.len();
        let mut longest: Option<&Arc<Connection>> = None;
        for looked_at in 0..count {
            if looked_at >= CANDIDATES && longest.is_some() {
                break;
            }
            let candidate = &self.open[(self.hand + looked_at) % count];
            let active_ms = candidate.active_ms.load(Relaxed);
            let is_longer =
                longest.is_none_or(|longest| active_ms < longest.active_ms.load(Relaxed));
            if candidate.requests.load(Relaxed) == 0 && is_longer {
                longest = Some(candidate);
            }
        }
        let longest = longest.cloned();
        self.hand = (self.hand + CANDIDATES) % count.max(1);
        longest
    }
}

impl Connection {
    /// Whether a request has begun on it, ever.
    pub(super) fn is_used(&self) -> bool {
        self.is_used.load(Relaxed)
    }

    /// Why it is to be closed, if so.
    fn is_late(&self, now_ms: u64, limits: &ConnectionLimits) -> Option<Closed> {
        if self.requests.load(Relaxed) > 0 {
            return None;
        }
        let waited = |since_ms: u64| Duration::from_millis(now_ms.saturating_sub(since_ms));
        let head_ms = self.head_ms.load(Relaxed);
        if head_ms != NEVER && waited(head_ms) >= limits.head {
            return Some(Closed::Head);
        }
        (waited(self.active_ms.load(Relaxed)) >= limits.idle).then_some(Closed::Idle)
    }
}

impl Place {
    /// Lets the connection be closed while it has no request.
    pub(super) fn served_by(connection: &Connection, task: AbortHandle) {
        *connection.task.lock() = Some(task);
    }

    /// A request begins; it ends when the returned value is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, is_multiplexed: bool) -> UnderWay {
        let connection = &self.connection;
        connection.requests.fetch_add(1, Relaxed);
        connection.head_ms.store(NEVER, Relaxed);
        connection.is_multiplexed.store(is_multiplexed, Relaxed);
        connection.is_used.store(true, Relaxed);
        UnderWay(Arc::clone(self))
    }

    /// Something arrives: the beginning of a head, if no request is under way. The frames of HTTP/2
    /// need not belong to a request.
    fn received(&self) {
        let connection = &self.connection;
        if connection.head_ms.load(Relaxed) == NEVER
            && connection.requests.load(Relaxed) == 0
            && !connection.is_multiplexed.load(Relaxed)
        {
            let now_ms = self.connections.now_ms();
            connection.head_ms.store(now_ms, Relaxed);
        }
    }

    /// The client took a part of an answer.
    fn sent(&self) {
        let now_ms = self.connections.now_ms();
        self.connection.active_ms.store(now_ms, Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.connections.table.lock();
        self.connections.take_out(&mut table, &self.connection);
    }
}

/// A request that is not answered to the end.
pub(super) struct UnderWay(Arc<Place>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.sent();
        self.0.connection.requests.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: usize) -> Arc<Connections> {
        let limits = ConnectionLimits {
            most,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
        };
        Connections::new(limits, ConnectionCounts::default())
    }

    fn is_open(connections: &Connections, place: &Place) -> bool {
        let table = connections.table.lock();
        let mut open = table.open.iter();
        open.any(|connection| Arc::ptr_eq(connection, &place.connection))
    }

    #[test]
    fn the_longest_without_a_request_makes_room() {
        let connections = connections(3);
        let enter = |at_ms| {
            connections.now_ms.store(at_ms, Relaxed);
            Arc::new(connections.enter().unwrap())
        };
        let (first, second, third) = (enter(1), enter(2), enter(3));
        let busy = first.begin_request(false);
        let fourth = enter(4);
        assert!(!is_open(&connections, &second));
        for place in [&first, &third, &fourth] {
            assert!(is_open(&connections, place));
        }
        drop(busy);
        let fifth = enter(5);
        assert!(!is_open(&connections, &third));
        let requests: Vec<_> = [&first, &fourth, &fifth]
            .into_iter()
            .map(|place| place.begin_request(false))
            .collect();
        assert!(connections.enter().is_none());
        drop((requests, first));
        assert!(connections.enter().is_some());
    }

    #[test]
    fn heads_and_pauses_have_their_times() {
        let connections = connections(3);
        let late = |place: &Place, at_ms| place.connection.is_late(at_ms, &connections.limits);
        let place = Arc::new(connections.enter().unwrap());
        assert_eq!(late(&place, 9_999), None);
        assert_eq!(late(&place, 10_000), Some(Closed::Head));
        let request = place.begin_request(false);
        assert_eq!(late(&place, 1_000_000), None);
        connections.now_ms.store(20_000, Relaxed);
        drop(request);
        assert_eq!(late(&place, 79_999), None);
        assert_eq!(late(&place, 80_000), Some(Closed::Idle));
        connections.now_ms.store(30_000, Relaxed);
        place.received();
        connections.now_ms.store(39_000, Relaxed);
        place.received();
        assert_eq!(late(&place, 40_000), Some(Closed::Head));
    }

    #[test]
    fn answers_to_pings_are_no_heads() {
        let connections = connections(3);
        let place = Arc::new(connections.enter().unwrap());
        drop(place.begin_request(true));
        place.received();
        let late = |at_ms| place.connection.is_late(at_ms, &connections.limits);
        assert_eq!(late(59_999), None);
        assert_eq!(late(60_000), Some(Closed::Idle));
    }
}
