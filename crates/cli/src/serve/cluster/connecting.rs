//! Connections from node to node, with TLS to a node whose address says so.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use axum::body::Body;
use headwater_engine::network::CaCertificates;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use super::address::NodeAddress;
use crate::client::trusting;

const CONNECTED_WITHIN: Duration = Duration::from_secs(2);
/// The only protocol: a connection has one request at a time, or the conversation about workers.
const PROTOCOL: &[u8] = b"http/1.1";

/// The way to connect, and the certificates that are trusted.
#[derive(Clone)]
pub(super) struct Connecting(TlsConnector);

impl Connecting {
    /// Trusts the system's authorities, and these certificates.
    ///
    /// # Errors
    /// The system's authorities cannot be read.
    pub(super) fn trusting(ca: Option<&CaCertificates>) -> Result<Self> {
        let given = ca.map(|ca| ca.certificates().to_vec()).unwrap_or_default();
        let mut config = trusting(given)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// A new connection to another node.
    ///
    /// # Errors
    /// The reason, when the node does not answer or is not to be trusted.
    pub(super) async fn connect(&self, to: &NodeAddress) -> Result<SendRequest<Body>, String> {
        let connected = timeout(CONNECTED_WITHIN, self.connected(to)).await;
        connected.map_err(|_| "no answer".to_owned())?
    }

    async fn connected(&self, to: &NodeAddress) -> Result<SendRequest<Body>, String> {
        let stream = TcpStream::connect(to.authority()).await;
        let stream = stream.map_err(|error| error.to_string())?;
        let _ = stream.set_nodelay(true);
        if !to.is_encrypted() {
            return greeted(stream).await;
        }
        let name = ServerName::try_from(to.host().to_owned()).map_err(|error| error.to_string())?;
        let encrypted = self.0.connect(name, stream).await;
        greeted(encrypted.map_err(|error| error.to_string())?).await
    }
}

async fn greeted(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Body>, String> {
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (connection, conversation) = handshake.map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        if let Err(error) = conversation.await {
            tracing::trace!(%error, "a connection to another node ended");
        }
    });
    Ok(connection)
}
