//! Telling systemd, or what stands in for it, that the node is ready, and that it stops: the datagrams of `sd_notify`.

use std::{
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr, UnixDatagram},
        },
    },
};

const VARIABLE: &str = "NOTIFY_SOCKET";

pub(super) fn ready() {
    tell("READY=1");
}

pub(super) fn stopping() {
    tell("STOPPING=1");
}

/// Sends a state to the manager that started this process, if it wants to know.
fn tell(state: &str) {
    let Some(socket) = std::env::var_os(VARIABLE).filter(|socket| !socket.is_empty()) else {
        return;
    };
    if let Err(error) = send(&socket, state) {
        tracing::warn!(%error, "cannot tell systemd {state}");
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_arrives_at_the_socket_of_the_manager() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), "READY=1").unwrap();
        let mut told = [0; 16];
        let length = manager.recv(&mut told).unwrap();
        assert_eq!(&told[..length], b"READY=1");
        assert!(send(folder.path().join("none").as_os_str(), "READY=1").is_err());
    }
}
