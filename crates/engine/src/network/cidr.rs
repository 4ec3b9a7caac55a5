//! Address ranges and their difference. Independent of their use.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// Not an address range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an address range such as 10.0.0.0/8 or fd00::/8")]
pub struct InvalidCidr(pub String);

/// All addresses of one family that share their first `prefix` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    first: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// The range of `prefix` bits around `address`, whose other bits are dropped.
    ///
    /// # Errors
    /// The prefix is longer than the address.
    pub fn new(address: IpAddr, prefix: u8) -> Result<Self, InvalidCidr> {
        if prefix > width(address) {
            return Err(InvalidCidr(format!("{address}/{prefix}")));
        }
        let first = from_bits(address, bits(address) & mask(width(address), prefix));
        Ok(Self { first, prefix })
    }

    /// The lowest address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// Whether `address` is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        width(address) == width(self.first)
            && bits(address) & mask(width(address), self.prefix) == bits(self.first)
    }

    /// The rest of the range when all of `others` are taken out.
    pub fn without_all(self, others: &[Self]) -> Vec<Self> {
        others.iter().fold(vec![self], |left, other| {
            left.into_iter()
                .flat_map(|range| range.without(*other))
                .collect()
        })
    }

    fn without(self, other: Self) -> Vec<Self> {
        if other.prefix <= self.prefix && other.contains(self.first) {
            return Vec::new();
        }
        if !self.contains(other.first) {
            return vec![self];
        }
        // `other` is a proper part: halve until it is what remains, keeping the other halves.
        self.halves()
            .into_iter()
            .flat_map(|half| half.without(other))
            .collect()
    }

    fn halves(self) -> [Self; 2] {
        let prefix = self.prefix + 1;
        let bit = 1 << (width(self.first) - prefix);
        let upper = from_bits(self.first, bits(self.first) | bit);
        [self.first, upper].map(|first| Self { first, prefix })
    }
}

impl FromStr for Cidr {
    type Err = InvalidCidr;

    fn from_str(text: &str) -> Result<Self, InvalidCidr> {
        let invalid = || InvalidCidr(text.to_owned());
        let (address, prefix) = text
            .split_once('/')
            .map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr = address
            .trim_matches(['[', ']'])
            .parse()
            .map_err(|_| invalid())?;
        let prefix = match prefix {
            Some(prefix) => prefix.parse().map_err(|_| invalid())?,
            None => width(address),
        };
        Self::new(address, prefix).map_err(|_| invalid())
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn from_bits(family: IpAddr, bits: u128) -> IpAddr {
    match family {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an IPv4 address has 32 bits"
        )]
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(bits as u32)),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(bits)),
    }
}

fn mask(width: u8, prefix: u8) -> u128 {
    let all = if width == 32 {
        u128::from(u32::MAX)
    } else {
        u128::MAX
    };
    let host_bits = u32::from(width - prefix);
    all & u128::MAX.checked_shl(host_bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Cidr;

    fn cidr(text: &str) -> Cidr {
        text.parse().unwrap()
    }

    #[test]
    fn a_difference_is_what_is_left() {
        for (range, other, left) in [
            ("10.0.0.0/8", "192.168.0.0/16", vec!["10.0.0.0/8"]),
            ("10.0.0.0/8", "10.0.0.0/8", vec![]),
            ("10.0.0.0/8", "0.0.0.0/0", vec![]),
            (
                "10.0.0.0/30",
                "10.0.0.2/32",
                vec!["10.0.0.0/31", "10.0.0.3/32"],
            ),
            ("fc00::/7", "fd00::/8", vec!["fc00::/8"]),
            ("10.0.0.0/8", "::/0", vec!["10.0.0.0/8"]),
        ] {
            let rest: Vec<String> = cidr(range)
                .without_all(&[cidr(other)])
                .iter()
                .map(Cidr::to_string)
                .collect();
            assert_eq!(rest, left, "{range} without {other}");
        }
    }

    #[test]
    fn texts_that_are_no_range_are_refused() {
        for text in [
            "",
            "10.0.0.0/",
            "10.0.0/8",
            "10.0.0.0/33",
            "::/129",
            "localhost",
            "10.0.0.0/-1",
        ] {
            assert!(text.parse::<Cidr>().is_err(), "{text}");
        }
    }
}
