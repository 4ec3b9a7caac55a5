//! The caller's address, if proxies stand between the caller and the node.
//!
//! Responsible for which address is believed. Not for where a proxy writes the addresses down.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use headwater_engine::network::{Cidr, InvalidCidr};

/// The addresses of proxies that name their callers truthfully.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    ranges: Vec<Cidr>,
}

impl TrustedProxies {
    /// The caller: the peer, or, as long as that is a trusted proxy, the address that it names.
    /// `forwarded_for` is the chain as proxies append to it, the nearest last: headers, whose addresses are separated by
    /// commas. Addresses beyond a stranger are not believed.
    pub fn caller<'a>(
        &self,
        peer: IpAddr,
        forwarded_for: impl DoubleEndedIterator<Item = &'a str>,
    ) -> IpAddr {
        let mut caller = peer.to_canonical();
        for named in forwarded_for.flat_map(|header| header.split(',')).rev() {
            if !self.ranges.iter().any(|range| range.contains(caller)) {
                break;
            }
            match address(named) {
                Some(address) => caller = address,
                None => break,
            }
        }
        caller
    }
}

/// Addresses and CIDR ranges, separated by commas.
impl FromStr for TrustedProxies {
    type Err = InvalidCidr;

    fn from_str(text: &str) -> Result<Self, InvalidCidr> {
        let ranges = text.split(',').map(str::trim);
        let ranges = ranges.filter(|range| !range.is_empty()).map(Cidr::from_str);
        Ok(Self {
            ranges: ranges.collect::<Result<_, _>>()?,
        })
    }
}

/// Some proxies add the port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let with_port = || text.parse().map(|address: SocketAddr| address.ip());
    let found = text.parse().or_else(|_| with_port()).ok();
    found.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(trusted: &str, peer: &str, forwarded_for: &str) -> String {
        let trusted: TrustedProxies = trusted.parse().unwrap();
        let chain = forwarded_for.split(',').filter(|text| !text.is_empty());
        trusted.caller(peer.parse().unwrap(), chain).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        for (trusted, peer, forwarded_for, expected) in [
            ("", "10.0.0.1", "1.1.1.1", "10.0.0.1"),
            ("10.0.0.0/8", "10.0.0.1", "1.1.1.1", "1.1.1.1"),
            ("10.0.0.0/8", "::ffff:10.0.0.1", "1.1.1.1:5123", "1.1.1.1"),
            ("10.0.0.0/8", "8.8.8.8", "1.1.1.1", "8.8.8.8"),
            // A caller can claim any address, except for the one that the proxy saw.
            ("10.0.0.0/8", "10.0.0.1", "9.9.9.9, 1.1.1.1", "1.1.1.1"),
            (
                "10.0.0.1,10.0.0.2",
                "10.0.0.1",
                "1.1.1.1, 10.0.0.2",
                "1.1.1.1",
            ),
            ("10.0.0.0/8", "10.0.0.1", "", "10.0.0.1"),
            ("10.0.0.0/8", "10.0.0.1", "unknown", "10.0.0.1"),
            ("::1", "::1", "[2606:4700::1]:443", "2606:4700::1"),
        ] {
            let found = caller(trusted, peer, forwarded_for);
            assert_eq!(found, expected, "{trusted} {peer} {forwarded_for}");
        }
        assert!("10.0.0.0/33".parse::<TrustedProxies>().is_err());
    }
}
