//! TLS for servers of the test that are known under public host names: an authority of the tests' own,
//! certificates it issues, and a listener that speaks TLS.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, LazyLock},
};

use axum::serve::Listener;
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// The flag by which a node speaks HTTPS.
pub(crate) const CERT: &str = "--tls-cert=";

static AUTHORITY: LazyLock<CertifiedIssuer<'static, KeyPair>> = LazyLock::new(|| {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
});

/// The certificate of the authority that issued every other, as PEM.
pub(crate) fn authority() -> String {
    AUTHORITY.pem()
}

/// A certificate for these hosts and its key, as PEM.
pub(crate) fn certificate(hosts: &[&str]) -> (String, String) {
    let (certificate, key) = issue(hosts);
    (certificate.pem(), key.serialize_pem())
}

/// Whether a node with these flags speaks HTTPS.
pub(crate) fn is_spoken(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with(CERT))
}

fn issue(hosts: &[&str]) -> (Certificate, KeyPair) {
    let hosts: Vec<_> = hosts.iter().map(|&host| host.to_owned()).collect();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(hosts).unwrap();
    (params.signed_by(&key, &*AUTHORITY).unwrap(), key)
}

/// A certificate that nobody but its own key has signed, as tools make it: one of an authority, or not.
fn self_signed(hosts: &[&str], is_authority: bool) -> (Certificate, KeyPair) {
    let hosts: Vec<_> = hosts.iter().map(|&host| host.to_owned()).collect();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(hosts).unwrap();
    if is_authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    (params.self_signed(&key).unwrap(), key)
}

/// The settings of a server with a certificate. It speaks HTTP/1.1.
fn config((certificate, key): (Certificate, KeyPair)) -> ServerConfig {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

/// Connections whose handshake is done. A client that is slow to greet, or does not trust the
/// certificate, holds nobody up.
pub(crate) struct TlsListener {
    greeted: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Listens on a free port of the loopback interface, with a certificate for these hosts.
    pub(crate) async fn bind(hosts: &[&str]) -> Self {
        Self::with(issue(hosts)).await
    }

    /// The same with a certificate that it has signed itself, which is returned as PEM.
    pub(crate) async fn bind_self_signed(hosts: &[&str], is_authority: bool) -> (Self, String) {
        let own = self_signed(hosts, is_authority);
        let pem = own.0.pem();
        (Self::with(own).await, pem)
    }

    async fn with(certificate: (Certificate, KeyPair)) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config(certificate)));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (report, greeted) = mpsc::channel(16);
        tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let (acceptor, report) = (acceptor.clone(), report.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        let _ = report.send((stream, peer)).await;
                    }
                });
            }
        });
        Self { greeted, address }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.greeted.recv().await {
            Some(greeted) => greeted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
