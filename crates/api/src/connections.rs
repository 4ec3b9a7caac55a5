//! Counts of the connections that requests come by. The server that has them counts; how
//! many it allows and which it closes is its own business.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// Counts of the server's connections, shown by `/metrics`. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct ConnectionCounts {
    open: Gauge,
    most: Gauge,
    refused: Counter,
    closed: Family<[(&'static str, &'static str); 1], Counter>,
}

/// Why the server closed a connection that had no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// A request's head did not arrive in time.
    Head,
    /// No request came for long.
    Idle,
    /// A new connection needed the room.
    Room,
}

impl Closed {
    const ALL: [Self; 3] = [Self::Head, Self::Idle, Self::Room];

    fn label(self) -> [(&'static str, &'static str); 1] {
        let reason = match self {
            Self::Head => "head",
            Self::Idle => "idle",
            Self::Room => "room",
        };
        [("reason", reason)]
    }
}

impl ConnectionCounts {
    /// This many connections may be open at once.
    pub fn allow(&self, most: usize) {
        self.most.set(i64::try_from(most).unwrap_or(i64::MAX));
    }

    /// A connection was opened.
    pub fn opened(&self) {
        self.open.inc();
    }

    /// A connection is gone.
    pub fn gone(&self) {
        self.open.dec();
    }

    /// A connection was refused: all others had requests.
    pub fn refused(&self) {
        self.refused.inc();
    }

    /// The server closes a connection.
    pub fn closed(&self, reason: Closed) {
        self.closed.get_or_create(&reason.label()).inc();
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Open connections";
        registry.register("http_connections", help, self.open.clone());
        let help = "Connections that may be open at once";
        registry.register("http_connections_max", help, self.most.clone());
        let help = "Connections refused because all others had requests";
        registry.register("http_connections_refused", help, self.refused.clone());
        for reason in Closed::ALL {
            // Shown from the start, not from the first time on.
            drop(self.closed.get_or_create(&reason.label()));
        }
        let help = "Connections without a request that the node closed, by reason";
        registry.register("http_connections_closed", help, self.closed.clone());
    }
}
