//! The addresses at which nodes reach each other.

use std::{fmt, str::FromStr};

use url::{Host, Url};

/// An `http` or `https` URL without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeAddress {
    is_encrypted: bool,
    host: String,
    authority: String,
}

impl NodeAddress {
    /// Host and port.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// The host as a certificate names it: an IPv6 address is without brackets.
    pub(super) fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Whether the node speaks HTTPS there.
    pub(super) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

impl fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority)
    }
}

impl FromStr for NodeAddress {
    type Err = &'static str;

    /// `http://HOST:PORT`, `https://HOST:PORT`, or `HOST:PORT` for the first.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "must be the address at which the other nodes reach this one, such as http://10.0.0.5:3000";
        let url = match text.contains("://") {
            true => Url::parse(text),
            false => Url::parse(&format!("http://{text}")),
        };
        let url = url.map_err(|_| WRONG)?;
        let has_more = url.path() != "/" || url.query().is_some() || !url.username().is_empty();
        if !matches!(url.scheme(), "http" | "https") || has_more {
            return Err(WRONG);
        }
        let is_nowhere = match url.host() {
            Some(Host::Ipv4(ip)) => ip.is_unspecified(),
            Some(Host::Ipv6(ip)) => ip.is_unspecified(),
            Some(Host::Domain(_)) => false,
            None => true,
        };
        if is_nowhere {
            return Err(
                "must name one machine: 0.0.0.0 and [::] are no address that other nodes could reach",
            );
        }
        let host = url.host_str().ok_or(WRONG)?;
        let port = url.port_or_known_default().ok_or(WRONG)?;
        Ok(Self {
            is_encrypted: url.scheme() == "https",
            host: host.to_owned(),
            authority: format!("{host}:{port}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_machine_and_a_port() {
        let shown = |text: &str| {
            text.parse::<NodeAddress>()
                .map(|address| address.to_string())
        };
        assert_eq!(
            shown("http://10.0.0.5:3000/").unwrap(),
            "http://10.0.0.5:3000"
        );
        assert_eq!(
            shown("node-1.internal:3000").unwrap(),
            "http://node-1.internal:3000"
        );
        assert_eq!(shown("http://[::1]:3000").unwrap(), "http://[::1]:3000");
        assert_eq!(shown("http://node").unwrap(), "http://node:80");
        assert_eq!(shown("https://node/").unwrap(), "https://node:443");
        let ipv6: NodeAddress = "https://[::1]:3000".parse().unwrap();
        assert_eq!(ipv6.host(), "::1");
        for wrong in [
            "",
            "ftp://node:1",
            "http://node/path",
            "0.0.0.0:3000",
            "http://[::]:1",
            "http://a b",
        ] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }
}
