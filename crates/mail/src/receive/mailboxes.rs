//! The boundary between the server and its caller: which mailboxes there are, and a message for them.

use std::net::IpAddr;

use async_trait::async_trait;
use bytes::Bytes;

/// The mailboxes behind a server.
#[async_trait]
pub trait Mailboxes: Send + Sync {
    /// Whether somebody receives mail at `address`. An error leaves the sender's server its message: one
    /// that cannot be looked up now is not one that does not exist.
    async fn knows(&self, address: &str) -> Result<bool, Refused>;

    /// Takes a message for all its recipients, or for none. `Ok` promises that it is durable: its sender
    /// is told so and forgets it.
    async fn deliver(&self, received: Received) -> Result<(), Refused>;
}

/// A message with its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The address that failures would be reported to; empty for a report itself.
    pub envelope_from: String,
    /// The addresses it is for, as they were given, each once.
    pub recipients: Vec<String>,
    /// The other end of the connection.
    pub client_ip: IpAddr,
    /// The message as it was sent, lines ending with CR LF.
    pub message: Bytes,
    /// Whether the connection was encrypted.
    pub tls: bool,
    /// The name that the client gave itself. Nothing vouches for it.
    pub helo: String,
}

/// The reason why a message is not taken. Its text reaches the sender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Not now: the sender's server keeps the message and tries again.
    #[error("{0}")]
    Temporarily(String),
    /// Never: the sender's server gives it back to its author.
    #[error("{0}")]
    Permanently(String),
}

/// The part of an address that names a mailbox: its local part up to a `+`, without quotes. Letters stay as
/// they are written; servers on the way should not change them.
pub fn mailbox_name(address: &str) -> &str {
    let local = address
        .rsplit_once('@')
        .map_or(address, |(local, _domain)| local);
    let unquoted = local
        .strip_prefix('"')
        .and_then(|local| local.strip_suffix('"'))
        .unwrap_or(local);
    unquoted
        .split_once('+')
        .map_or(unquoted, |(name, _tag)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_is_named_by_the_local_part_without_its_tag() {
        for (address, name) in [
            ("abc@example.com", "abc"),
            ("abc+tag@example.com", "abc"),
            ("abc+a+b@example.com", "abc"),
            ("\"abc+x@y\"@example.com", "abc"),
            ("AbC@example.com", "AbC"),
            ("+tag@example.com", ""),
            ("postmaster", "postmaster"),
        ] {
            assert_eq!(mailbox_name(address), name, "{address}");
        }
    }
}
