//! The addresses that components, webhooks and the node's own fetches of component code may reach, their routes, and
//! the certificates that they trust.
//!
//! Responsible for: the policy, the question [`NetworkPolicy::is_allowed`], the flag values by which
//! Deno enforces it, and an HTTP client that enforces it at connect time. Not for: the worker's
//! other permissions, or the use of a response.

mod certificates;
pub mod cidr;
mod client;
mod failure;
mod route;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

pub use certificates::{CaCertificates, InvalidCertificates};
pub use cidr::{Cidr, InvalidCidr};
pub use client::{PolicyResolver, RefusedAddress, check_host, client_builder, http_client};
pub use failure::attempt_failure;
pub use route::{Destination, InvalidRoute, Route};

/// Addresses that are not on the public internet: the special-purpose registries of IPv4 and IPv6,
/// and a cloud's metadata address that is in nobody's special range (168.63.129.16).
/// Everything of IPv6 outside 2000::/3 is refused as a whole.
const NOT_PUBLIC: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "::/3",
    "4000::/2",
    "8000::/1",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
];

/// The part of IPv6 that [`NetworkPolicy::deny_net_ranges`] can name: Deno takes single addresses only.
/// Loopback, unspecified, and the metadata address of a large cloud.
const NOT_PUBLIC_V6_ADDRESSES: &[Ipv6Addr] = &[
    Ipv6Addr::LOCALHOST,
    Ipv6Addr::UNSPECIFIED,
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
];

/// The prefix under which a NAT64 gateway reaches IPv4 addresses.
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// The addresses that may be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NetworkPolicy {
    /// The public internet and nothing else.
    #[default]
    PublicOnly,
    /// Every address.
    All,
    /// No address at all, as in tests of workflows. Routes to this node lead over its socket all the same.
    Nothing,
    /// The public internet and these ranges.
    Ranges(Vec<Cidr>),
}

impl NetworkPolicy {
    /// Whether `address` may be reached. IPv4 addresses written as IPv6 are judged as IPv4.
    pub fn is_allowed(&self, address: IpAddr) -> bool {
        let address = embedded_v4(address).map_or(address, IpAddr::V4);
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::PublicOnly => is_public(address),
            Self::Ranges(ranges) => {
                is_public(address) || ranges.iter().any(|range| range.contains(address))
            }
        }
    }

    /// The values of Deno's `--deny-net=`. Empty means that the flag must be left out (without a value
    /// it would refuse everything). Deno checks them after name resolution, and deny wins over allow,
    /// so that the allowed ranges are taken out of the refused ones.
    ///
    /// Deno 2.9 has no syntax for a range of IPv6 addresses (it splits at the first colon), so only the
    /// well-known single addresses are here: see [`Self::needs_ipv6_off`].
    pub fn deny_net_ranges(&self) -> Vec<String> {
        let allowed = match self {
            Self::All => return Vec::new(),
            Self::PublicOnly | Self::Nothing => &[][..],
            Self::Ranges(ranges) => ranges,
        };
        let ranges: Vec<_> = match self {
            Self::Nothing => vec!["0.0.0.0/0".to_owned()],
            _ => {
                let ranges = not_public().filter(|range| range.first().is_ipv4());
                let ranges = ranges.flat_map(|range| range.without_all(allowed));
                ranges.map(|range| range.to_string()).collect()
            }
        };
        let addresses = NOT_PUBLIC_V6_ADDRESSES
            .iter()
            .filter(|&&address| !self.is_allowed(IpAddr::V6(address)))
            .map(|address| format!("[{address}]"));
        ranges.into_iter().chain(addresses).collect()
    }

    /// Whether the sandbox must refuse IPv6 sockets to workers, because Deno's flags cannot express this
    /// policy for IPv6: private IPv6 networks (unique local, link-local) would otherwise be open.
    /// False once an operator has allowed an IPv6 range, which must be reachable.
    pub fn needs_ipv6_off(&self) -> bool {
        match self {
            Self::All => false,
            Self::PublicOnly | Self::Nothing => true,
            Self::Ranges(ranges) => !ranges.iter().any(|range| range.first().is_ipv6()),
        }
    }
}

/// The value of `--allow-private-network`: nothing for every address, else CIDR ranges separated by commas.
impl FromStr for NetworkPolicy {
    type Err = InvalidCidr;

    fn from_str(value: &str) -> Result<Self, InvalidCidr> {
        if value.trim().is_empty() {
            return Ok(Self::All);
        }
        let ranges = value
            .split(',')
            .map(str::trim)
            .filter(|range| !range.is_empty());
        ranges
            .map(Cidr::from_str)
            .collect::<Result<_, _>>()
            .map(Self::Ranges)
    }
}

fn not_public() -> impl Iterator<Item = Cidr> {
    NOT_PUBLIC
        .iter()
        .map(|range| range.parse().expect("the table holds valid ranges"))
}

fn is_public(address: IpAddr) -> bool {
    !not_public().any(|range| range.contains(address))
}

/// The IPv4 address that an IPv4-mapped or NAT64 address stands for.
fn embedded_v4(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else {
        return None;
    };
    let segments = address.segments();
    let nat64 = segments[..6] == NAT64;
    let last = (u32::from(segments[6]) << 16) | u32::from(segments[7]);
    address
        .to_ipv4_mapped()
        .or_else(|| nat64.then(|| Ipv4Addr::from_bits(last)))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use proptest::prelude::*;

    use super::{Cidr, NetworkPolicy};

    fn allowed(policy: &NetworkPolicy, address: &str) -> bool {
        policy.is_allowed(address.parse().unwrap())
    }

    #[test]
    fn only_public_addresses_are_allowed_by_default() {
        let refused = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "239.1.1.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:0:1::1",
            "2001:db8::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ];
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "100.128.0.1",
            "172.32.0.1",
            "169.253.1.1",
            "192.0.1.1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
        ];
        for address in refused {
            assert!(!allowed(&NetworkPolicy::PublicOnly, address), "{address}");
            assert!(allowed(&NetworkPolicy::All, address), "{address}");
        }
        for address in public {
            assert!(allowed(&NetworkPolicy::PublicOnly, address), "{address}");
        }
    }

    #[test]
    fn a_given_range_is_allowed_besides_public_addresses() {
        let policy: NetworkPolicy = "10.1.0.0/16, 127.0.0.1".parse().unwrap();
        for (address, expected) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("127.0.0.1", true),
            ("1.1.1.1", true),
            ("10.2.0.1", false),
            ("127.0.0.2", false),
        ] {
            assert_eq!(allowed(&policy, address), expected, "{address}");
        }
        assert_eq!("".parse::<NetworkPolicy>(), Ok(NetworkPolicy::All));
        assert!("10.0.0.0/33".parse::<NetworkPolicy>().is_err());
    }

    #[test]
    fn ipv6_stays_on_only_where_the_policy_can_be_kept_or_asks_for_it() {
        for (value, off) in [
            ("", false),
            ("10.0.0.0/8", true),
            ("10.0.0.0/8,fd00::/8", false),
        ] {
            assert_eq!(
                value.parse::<NetworkPolicy>().unwrap().needs_ipv6_off(),
                off,
                "{value}"
            );
        }
        assert!(NetworkPolicy::PublicOnly.needs_ipv6_off());
        assert!(NetworkPolicy::Nothing.needs_ipv6_off());
    }

    #[test]
    fn no_address_of_either_kind_is_allowed_where_nothing_is() {
        let policy = NetworkPolicy::Nothing;
        for address in [
            "127.0.0.1",
            "1.1.1.1",
            "::1",
            "::",
            "fd00:ec2::254",
            "::ffff:1.1.1.1",
            "2606:4700:4700::1111",
        ] {
            assert!(!allowed(&policy, address), "{address}");
        }
        // Without a sandbox, which refuses all of IPv6, Deno refuses what its flags can name.
        let denied = policy.deny_net_ranges();
        assert_eq!(denied, ["0.0.0.0/0", "[::1]", "[::]", "[fd00:ec2::254]"]);
    }

    fn cidr_v4() -> impl Strategy<Value = Cidr> {
        (any::<[u8; 4]>(), 0_u8..=32)
            .prop_map(|(octets, prefix)| Cidr::new(IpAddr::from(octets), prefix).unwrap())
    }

    proptest! {
        #[test]
        fn denos_ranges_say_what_the_policy_says(
            ranges in prop::collection::vec(cidr_v4(), 0..4),
            octets in any::<[u8; 4]>(),
            private in prop::sample::select(vec![[10, 0, 0, 1], [127, 0, 0, 1], [192, 168, 3, 4], [169, 254, 169, 254]]),
        ) {
            let policy = NetworkPolicy::Ranges(ranges);
            let denied: Vec<Cidr> = policy.deny_net_ranges().iter().filter_map(|range| range.parse().ok()).collect();
            for address in [IpAddr::from(octets), IpAddr::from(private)] {
                let refused = denied.iter().any(|range| range.contains(address));
                prop_assert_eq!(refused, !policy.is_allowed(address), "{}", address);
            }
        }
    }
}
