//! Values of options: how their texts are read, on the command line and in the file.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use serde::Deserialize;

/// `250ms`, `30s`, `5m`, `1h`, or seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let in_seconds = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = match in_seconds {
        true => headwater_model::duration::parse(&format!("{text}s")),
        false => headwater_model::duration::parse(text),
    };
    parsed
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("`{text}` is not a time such as 500ms, 30s, 5m or 1h"))
}

/// An IP address or `localhost` with a port, or a port alone: one of the loopback address, so that nobody opens a node to a
/// network by leaving something out.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port: &str| {
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| is_number)?;
        Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    };
    let host_left_out = ["localhost:", ":"]
        .iter()
        .find_map(|host| text.strip_prefix(host));
    text.parse()
        .ok()
        .or_else(|| loopback(host_left_out.unwrap_or(text)))
        .ok_or_else(|| {
            format!(
                "`{text}` is not an IP address with a port, such as 127.0.0.1:3000, 0.0.0.0:3000 or [::1]:3000, nor a port \
                 such as 3000"
            )
        })
}

pub(super) fn address_in_file<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    address(&text).map(Some).map_err(serde::de::Error::custom)
}

pub(super) fn duration_in_file<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    duration(&text).map(Some).map_err(serde::de::Error::custom)
}

/// A list, or its entries in one text, as flags have it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text, or a list of texts")]
enum ListInFile {
    Text(String),
    List(Vec<String>),
}

impl ListInFile {
    fn joined(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::List(entries) => entries.join(","),
        }
    }
}

pub(super) fn list_in_file<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(Some(ListInFile::deserialize(deserializer)?.joined()))
}

/// Ranges, or `true` for all.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected `true` for all, a range, or a list of ranges"
)]
enum RangesInFile {
    All(bool),
    Some(ListInFile),
}

pub(super) fn ranges_in_file<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(match RangesInFile::deserialize(deserializer)? {
        RangesInFile::All(true) => Some(String::new()),
        RangesInFile::All(false) => None,
        RangesInFile::Some(list) => Some(list.joined()),
    })
}

pub(super) fn lines_in_file<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let text = list_in_file(deserializer)?.unwrap_or_default();
    let entries = text.split(',').map(str::trim);
    let entries = entries.filter(|entry| !entry.is_empty());
    Ok(Some(entries.map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, ms) in [
            ("250ms", 250),
            ("30", 30_000),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
        for text in ["", "0s", "5y", "s", "-1s", "1.5s", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_may_be_a_port_of_the_loopback_address() {
        for (text, address) in [
            ("3100", "127.0.0.1:3100"),
            (":3100", "127.0.0.1:3100"),
            ("localhost:3100", "127.0.0.1:3100"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:3100", "0.0.0.0:3100"),
            ("[::1]:1", "[::1]:1"),
        ] {
            assert_eq!(super::address(text), Ok(address.parse().unwrap()), "{text}");
        }
        for text in [
            "",
            ":",
            "127.0.0.1",
            "65536",
            "+1",
            "node.example:3000",
            "localhost",
            "::1",
        ] {
            let refused = super::address(text).unwrap_err();
            assert!(refused.contains("127.0.0.1:3000"), "{refused}");
        }
    }
}
