//! All that a node is started with, the same for each of its terms of work.

use std::{net::SocketAddr, num::NonZeroUsize, sync::Arc, time::Duration};

use axum::Router;
use headwater_api::{BodyLimits, ConnectionCounts};
use headwater_platform::Tracer;
use tokio_util::sync::CancellationToken;

use super::{
    arguments::ServeArguments,
    connections::{ConnectionLimits, Connections},
    data_dir::DataDir,
    descriptors,
    log::Notes,
    server::Server,
    tls::Tls,
};
use crate::arguments::Global;

const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than clients that keep connections for later usually do: it is for them to close.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Options and places of a node.
pub(super) struct Setup<'a> {
    pub(super) global: &'a Global,
    pub(super) options: ServeArguments,
    pub(super) bodies: BodyLimits,
    pub(super) data_dir: DataDir,
    /// The address that it listens on.
    pub(super) address: SocketAddr,
    /// Whether the manager of services opened the socket there, and keeps it open.
    pub(super) is_passed: bool,
    pub(super) notes: Notes,
    pub(super) tracer: Option<Arc<dyn Tracer>>,
    pub(super) counts: ConnectionCounts,
    pub(super) tls: Option<Arc<Tls>>,
}

impl Setup<'_> {
    /// The server of the node's connections until `stopping`.
    pub(super) fn server(&self, router: Router, stopping: CancellationToken) -> Server {
        let limits = connection_limits(&self.options);
        let connections = Connections::new(limits, self.counts.clone());
        Server::new(router, connections, self.tls.clone(), stopping)
    }
}

/// The bounds of connections, with as many descriptors as the process may have.
fn connection_limits(options: &ServeArguments) -> ConnectionLimits {
    let descriptors = descriptors::raise_limit();
    let wanted = options.max_connections.map(NonZeroUsize::get);
    ConnectionLimits {
        most: descriptors::connections(wanted, descriptors),
        head: options.head_timeout.unwrap_or(HEAD_TIMEOUT),
        idle: options.idle_timeout.unwrap_or(IDLE_TIMEOUT),
    }
}
