//! All that a node is started with, the same for each of its terms of work.

use std::{net::SocketAddr, sync::Arc};

use axum::Router;
use headwater_api::{BodyLimits, ConnectionCounts};
use headwater_platform::Tracer;
use tokio_util::sync::CancellationToken;

use super::{
    arguments::ServeArguments, connections::Connections, data_dir::DataDir, log::Notes, node,
    server::Server, tls::Tls,
};
use crate::arguments::Global;

/// Options and places of a node.
pub(super) struct Setup<'a> {
    pub(super) global: &'a Global,
    pub(super) options: ServeArguments,
    pub(super) bodies: BodyLimits,
    pub(super) data_dir: DataDir,
    /// The address that it listens on.
    pub(super) address: SocketAddr,
    pub(super) notes: Notes,
    pub(super) tracer: Option<Arc<dyn Tracer>>,
    pub(super) counts: ConnectionCounts,
    pub(super) tls: Option<Arc<Tls>>,
}

impl Setup<'_> {
    /// The server of the node's connections until `stopping`.
    pub(super) fn server(&self, router: Router, stopping: CancellationToken) -> Server {
        let limits = node::connection_limits(&self.options);
        let connections = Connections::new(limits, self.counts.clone());
        Server::new(router, connections, self.tls.clone(), stopping)
    }
}
