//! TLS of the node's own: the certificate and key of `--tls-cert` and `--tls-key`, read again once one of the
//! files has changed. Accepting connections and speaking HTTP is `server`'s business.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    http::{StatusCode, header::CONNECTION},
};
use headwater_mail::receive::{InvalidCertificate, tls_config};
use parking_lot::Mutex;
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::arguments::ServeArguments;
use crate::usage_error::UsageError;

/// The first byte of every handshake, with which no request begins.
const HANDSHAKE: u8 = 0x16;
/// The protocols that clients are offered, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
const PLAIN: &str = "This port speaks HTTPS: use https:// in place of http://\n";

/// The scheme of the node's own address.
pub(super) fn scheme(options: &ServeArguments) -> &'static str {
    match options.tls_cert.is_some() {
        true => "https",
        false => "http",
    }
}

/// The answer to requests that are sent without TLS.
pub(super) fn plain_requests() -> Router {
    Router::new().fallback(async || (StatusCode::BAD_REQUEST, [(CONNECTION, "close")], PLAIN))
}

/// The certificate that connections are encrypted with.
pub(super) struct Tls {
    pair: Pair,
    loaded: Mutex<Loaded>,
}

/// The files of a certificate chain and of its key.
struct Pair {
    cert: PathBuf,
    key: PathBuf,
}

struct Loaded {
    config: Arc<ServerConfig>,
    /// The state of the files when they were last read, whether or not they could be used.
    stamps: [Option<Stamp>; 2],
}

/// A file's identity and the moment of its last change, which also a new name, owner or mode is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    changed: (i64, i64),
    bytes: u64,
}

/// A connection whose client has said its first word.
pub(super) enum Greeted {
    Encrypted(Box<TlsStream<TcpStream>>),
    /// The client sends a request without TLS.
    Plain(TcpStream),
}

impl Tls {
    /// The certificate of the options, if they name one.
    ///
    /// # Errors
    /// One of the two options is missing; a file cannot be read or used.
    pub(super) fn of(options: &ServeArguments) -> Result<Option<Arc<Self>>, UsageError> {
        let pair = match (&options.tls_cert, &options.tls_key) {
            (None, None) => return Ok(None),
            (Some(cert), Some(key)) => Pair {
                cert: cert.clone(),
                key: key.clone(),
            },
            (Some(_), None) => return Err(UsageError::missing("--tls-key", "--tls-cert")),
            (None, Some(_)) => return Err(UsageError::missing("--tls-cert", "--tls-key")),
        };
        let stamps = pair.stamps();
        let config = pair.read().map_err(UsageError)?;
        Ok(Some(Arc::new(Self {
            pair,
            loaded: Mutex::new(Loaded { config, stamps }),
        })))
    }

    /// Shakes hands with a client, which may take as long as the client wishes.
    pub(super) async fn greet(&self, stream: TcpStream) -> io::Result<Greeted> {
        let mut first = [0];
        if stream.peek(&mut first).await? > 0 && first[0] != HANDSHAKE {
            return Ok(Greeted::Plain(stream));
        }
        let acceptor = TlsAcceptor::from(self.current());
        let encrypted = acceptor.accept(stream).await?;
        Ok(Greeted::Encrypted(Box::new(encrypted)))
    }

    /// The certificate of the files as they are. Two looks at files are nothing beside the handshake that follows.
    fn current(&self) -> Arc<ServerConfig> {
        let mut loaded = self.loaded.lock();
        let stamps = self.pair.stamps();
        if stamps != loaded.stamps {
            // Before reading: files that change meanwhile are read once more.
            loaded.stamps = stamps;
            match self.pair.read() {
                Ok(config) => {
                    loaded.config = config;
                    tracing::info!("the certificate of --tls-cert has changed and is in use");
                }
                Err(error) => {
                    tracing::error!(%error, "the certificate has changed and cannot be used; the former one stays in use");
                }
            }
        }
        Arc::clone(&loaded.config)
    }
}

impl Pair {
    fn stamps(&self) -> [Option<Stamp>; 2] {
        [stamp(&self.cert), stamp(&self.key)]
    }

    /// The settings of a server with these files.
    fn read(&self) -> Result<Arc<ServerConfig>, String> {
        let chain = read("--tls-cert", &self.cert)?;
        let key = read("--tls-key", &self.key)?;
        let config = tls_config(&chain, &key).map_err(|error| {
            let (option, path) = match error {
                InvalidCertificate::Chain => ("--tls-cert", &self.cert),
                InvalidCertificate::Key | InvalidCertificate::Pair(_) => ("--tls-key", &self.key),
            };
            format!("{option}: {}: {error}", path.display())
        })?;
        let mut config = Arc::unwrap_or_clone(config);
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Arc::new(config))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        file: (metadata.dev(), metadata.ino()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
        bytes: metadata.size(),
    })
}

fn read(option: &str, path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| {
        format!(
            "{option}: cannot read {}: {error}; name a PEM file that the node's user may read",
            path.display()
        )
    })
}
