//! Connections from node to node, with TLS to a node whose address says so.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use axum::body::Body;
use headwater_engine::network::CaCertificates;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustix::net::sockopt;
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
/// The time without a word after which the other machine is asked whether it is there, and how often.
const SILENT_FOR: Duration = Duration::from_secs(5);
const PROBED_EVERY: Duration = Duration::from_secs(2);
/// The time in which it acknowledges all that was sent, and takes a body that waits for room.
const HEARD_WITHIN: Duration = Duration::from_secs(30);
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
        notices_loss(&stream).map_err(|error| error.to_string())?;
        if !to.is_encrypted() {
            return greeted(stream).await;
        }
        let name = ServerName::try_from(to.host().to_owned()).map_err(|error| error.to_string())?;
        let encrypted = self.0.connect(name, stream).await;
        greeted(encrypted.map_err(|error| error.to_string())?).await
    }
}

/// Lets a connection break once the other machine is gone, also while nothing is said.
fn notices_loss(stream: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, SILENT_FOR)?;
    sockopt::set_tcp_keepintvl(stream, PROBED_EVERY)?;
    sockopt::set_tcp_keepcnt(stream, 3)?;
    let unheard_ms = HEARD_WITHIN.as_millis().try_into().unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(stream, unheard_ms)
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
