//! Host names whose requests are routed to another address.
//!
//! Responsible for the type and its text form. The runtime applies routes; the network policy decides whether their
//! addresses may be reached.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

/// A destination of components' requests to a host name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// In lower case.
    pub host: String,
    /// The place where they go instead.
    pub destination: Destination,
}

/// The end of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// This node's own API, over a socket of the machine, in plain HTTP.
    ThisNode,
    /// An address; the name that TLS asks for and checks stays the host's.
    Address {
        /// The address to which the host seems to have resolved.
        ip: IpAddr,
        /// Instead of the port that was asked for.
        port: Option<u16>,
    },
}

/// The text is not `HOST=ADDRESS` or `HOST=ADDRESS:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a host name with an IP address and maybe a port, such as \
     `api.example.com=10.1.2.3` or `api.example.com=10.1.2.3:8443`"
)]
pub struct InvalidRoute {
    text: String,
}

impl Route {
    /// A route to this node's own API; of `*`, for every host without a route of its own.
    pub fn to_this_node(host: &str) -> Self {
        Self {
            host: host.to_ascii_lowercase(),
            destination: Destination::ThisNode,
        }
    }

    /// The address it leads to, if it is one.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.destination {
            Destination::ThisNode => None,
            Destination::Address { ip, .. } => Some(ip),
        }
    }
}

/// `HOST=ADDRESS[:PORT]`; an IPv6 address with a port is in brackets.
impl FromStr for Route {
    type Err = InvalidRoute;

    fn from_str(text: &str) -> Result<Self, InvalidRoute> {
        let invalid = || InvalidRoute {
            text: text.to_owned(),
        };
        let (host, address) = text.trim().split_once('=').ok_or_else(invalid)?;
        if !is_host_name(host) {
            return Err(invalid());
        }
        let (ip, port) = match address.parse::<SocketAddr>() {
            Ok(address) => (address.ip(), Some(address.port())),
            Err(_) => (address.parse().map_err(|_| invalid())?, None),
        };
        if port == Some(0) {
            return Err(invalid());
        }
        Ok(Self {
            host: host.to_ascii_lowercase(),
            destination: Destination::Address { ip, port },
        })
    }
}

/// A name, and not an address: an address is not looked up, so nothing could be led elsewhere.
fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    text.split('.').all(is_label) && text.parse::<IpAddr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_a_host_an_address_and_maybe_a_port() {
        let read = |text: &str| {
            let route: Route = text.parse().unwrap();
            let Destination::Address { ip, port } = route.destination else {
                panic!("{text} leads to an address");
            };
            (route.host, ip.to_string(), port)
        };
        for (text, host, ip, port) in [
            (
                "api.Example.com=10.1.2.3",
                "api.example.com",
                "10.1.2.3",
                None,
            ),
            ("db=127.0.0.1:8443", "db", "127.0.0.1", Some(8443)),
            ("a_b.c=fd00::1", "a_b.c", "fd00::1", None),
            ("a.b=[fd00::1]:443", "a.b", "fd00::1", Some(443)),
        ] {
            assert_eq!(read(text), (host.to_owned(), ip.to_owned(), port), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "api.example.com",
            "=10.0.0.1",
            "api.example.com=",
            "api.example.com=localhost",
            "api.example.com=10.0.0.1:0",
            "api.example.com=10.0.0.1:x",
            "10.0.0.2=10.0.0.1",
            "https://api.example.com=10.0.0.1",
            "a..b=10.0.0.1",
        ] {
            assert!(text.parse::<Route>().is_err(), "{text}");
        }
    }
}
