//! The address that a node listens on.

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use tokio::net::TcpListener;

use super::arguments::ServeArguments;

/// The address of a node that is given none.
const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3000);
const ADDRESS_FREED_WITHIN: Duration = Duration::from_secs(1);
const ADDRESS_TRIED_EVERY: Duration = Duration::from_millis(10);

/// The address that the options name.
pub(super) fn address(options: &ServeArguments) -> SocketAddr {
    options.listen.unwrap_or(DEFAULT)
}

/// Listens there. A process that a killed node was just starting holds its address until that process has begun.
pub(super) async fn listen(address: SocketAddr) -> Result<TcpListener> {
    let give_up_at = Instant::now() + ADDRESS_FREED_WITHIN;
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < give_up_at => {
                tokio::time::sleep(ADDRESS_TRIED_EVERY).await;
            }
            bound => {
                return bound.with_context(|| {
                    format!(
                        "cannot listen on {address}; choose another address with --listen, such as 127.0.0.1:3001"
                    )
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_is_about_to_be_free_is_waited_for() {
        let former = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = former.local_addr().unwrap();
        let listening = tokio::spawn(listen(address));
        tokio::task::yield_now().await;
        assert!(!listening.is_finished());
        drop(former);
        let listener = listening.await.unwrap().unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
    }
}
