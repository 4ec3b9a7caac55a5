//! A socket that the manager of services has opened for the node and passes on: the socket activation of systemd. The manager
//! keeps it open while the node is started again, so that connections wait instead of being refused.

use std::{net::TcpListener as BlockingListener, os::fd::OwnedFd};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    net::sockopt,
};
use tokio::net::TcpListener;

use crate::usage_error::UsageError;

/// The listener that was passed to this process, if one was.
///
/// # Errors
/// Several were passed, or something else.
pub(super) fn passed() -> Result<Option<TcpListener>, UsageError> {
    let wrong = |reason: &str| UsageError(format!("the service manager's LISTEN_FDS: {reason}"));
    let sockets = sd_listen_fds::get().map_err(|_| wrong("it and LISTEN_PID must be numbers"))?;
    let mut sockets = sockets.into_iter().map(|(_, socket)| socket.into_std());
    let Some(socket) = sockets.next() else {
        return Ok(None);
    };
    if sockets.len() > 0 {
        let reason = "the node takes one socket, in place of --listen; leave one ListenStream= in the socket unit";
        return Err(wrong(reason));
    }
    match listener(socket) {
        Ok(listener) => Ok(Some(listener)),
        Err(reason) => Err(wrong(&reason)),
    }
}

fn listener(socket: OwnedFd) -> Result<TcpListener, String> {
    // No worker may take connections of the node.
    let kept = fcntl_setfd(&socket, FdFlags::CLOEXEC);
    kept.map_err(|error| format!("the file descriptor cannot be used: {error}"))?;
    let listens = sockopt::socket_acceptconn(&socket).unwrap_or(false);
    let listener = BlockingListener::from(socket);
    let is_of_tcp = listener.local_addr().is_ok();
    if !listens || !is_of_tcp {
        return Err(
            "it is not a TCP socket that listens; give the socket unit ListenStream=PORT or ADDRESS:PORT and Accept=no"
                .to_owned(),
        );
    }
    let taken = listener.set_nonblocking(true);
    let taken = taken.and_then(|()| TcpListener::from_std(listener));
    taken.map_err(|error| format!("the socket cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, os::unix::net::UnixListener};

    use rustix::io::fcntl_getfd;

    use super::*;

    #[tokio::test]
    async fn a_passed_socket_takes_connections_and_stays_out_of_workers() {
        let opened = BlockingListener::bind(("127.0.0.1", 0)).unwrap();
        fcntl_setfd(&opened, FdFlags::empty()).unwrap();
        let address = opened.local_addr().unwrap();
        let taken = listener(OwnedFd::from(opened)).unwrap();
        assert!(fcntl_getfd(&taken).unwrap().contains(FdFlags::CLOEXEC));
        let (accepted, connected) =
            tokio::join!(taken.accept(), tokio::net::TcpStream::connect(address));
        assert_eq!(
            accepted.unwrap().1,
            connected.unwrap().local_addr().unwrap()
        );
    }

    #[tokio::test]
    async fn anything_but_a_tcp_socket_that_listens_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
        let udp = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        for wrong in [OwnedFd::from(unix), udp.into(), file.into()] {
            let reason = listener(wrong).unwrap_err();
            assert!(reason.contains("ListenStream="), "{reason}");
        }
    }
}
