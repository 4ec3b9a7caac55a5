//! The settings of a server: its name, its bounds, its certificate.

use std::{sync::Arc, time::Duration};

use rustls::ServerConfig;

const MIB: usize = 1024 * 1024;

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name that the server gives itself.
    pub host_name: String,
    /// The size of the largest message that is taken.
    pub message_bytes_max: usize,
    /// The memory for messages that are under way, of all connections together. A message that finds no
    /// room is to be sent again later.
    pub buffered_bytes_max: usize,
    /// The connections that are served at a time; further ones are told to come back.
    pub connections_max: usize,
    /// The time that a client may keep silent.
    pub idle_timeout: Duration,
    /// The time that a connection may last, for those who say a byte now and then.
    pub session_timeout: Duration,
    /// The certificate, for clients that want encryption; see [`tls_config`](super::tls_config).
    pub tls: Option<Arc<ServerConfig>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            host_name: "localhost".to_owned(),
            message_bytes_max: 30 * MIB,
            buffered_bytes_max: 256 * MIB,
            connections_max: 100,
            idle_timeout: Duration::from_secs(5 * 60),
            session_timeout: Duration::from_secs(60 * 60),
            tls: None,
        }
    }
}
