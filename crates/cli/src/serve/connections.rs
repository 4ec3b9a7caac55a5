//! Settings of accepted connections.

use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::TcpStream;

/// How long a client may leave unacknowledged or unread what it was sent. Whoever reads a stream of events
/// and is gone without a word, or never reads, would keep its connection for ever.
const UNREAD_WITHIN: Duration = Duration::from_secs(60);

/// Sends what there is at once, and gives up clients that take nothing.
pub(super) fn tune(stream: &mut TcpStream) {
    let timeout_ms = u32::try_from(UNREAD_WITHIN.as_millis()).unwrap_or(u32::MAX);
    let set = stream.set_nodelay(true);
    let set = set.and_then(|()| Ok(sockopt::set_tcp_user_timeout(&*stream, timeout_ms)?));
    if let Err(error) = set {
        tracing::debug!(%error, "a connection keeps the system's settings");
    }
}
