//! The lines below the ready line, for a person at a terminal: where everything is, and the next command.

use std::net::SocketAddr;
use std::path::Path;

use super::{ServeArguments, data_dir::DataDir, tls};
use crate::arguments::{DEFAULT_DATA_DIR, DEFAULT_URL};

/// The fault of a node that listens on all interfaces and knows no other address of itself.
pub(super) const UNREACHABLE: &str = "endpoints have addresses that others cannot use";

/// The lines, each below the other.
pub(super) fn lines(
    options: &ServeArguments,
    address: SocketAddr,
    given: &Path,
    data_dir: &DataDir,
) -> String {
    let local = local_url(options, address);
    let public = options.public_url.as_ref().map(ToString::to_string);
    let url = public.unwrap_or_else(|| local.clone());
    let url = url.trim_end_matches('/');
    let mut lines = vec![
        ("web UI", format!("{url}/  (`headwater open` signs you in)")),
        ("API", format!("{url}/docs")),
    ];
    // The first user's key is where their node was started first.
    if data_dir.has_api_key() {
        lines.push(("API key", data_dir.shown_key_path()));
    }
    let mut variables = String::new();
    if given != Path::new(DEFAULT_DATA_DIR) {
        let shown = data_dir.shown();
        variables.push_str(&format!(" HEADWATER_DATA_DIR={shown}"));
    }
    if local != DEFAULT_URL {
        variables.push_str(&format!(" HEADWATER_URL={local}"));
    }
    if !variables.is_empty() {
        lines.push(("set", format!("export{variables}")));
    }
    lines.push((
        "next",
        "headwater init source, headwater deploy FILE".to_owned(),
    ));
    if is_reached_by_nobody(options, address) {
        lines.push(("note", format!("{UNREACHABLE}; set --public-url")));
    }
    let lines = lines.into_iter();
    let lines = lines.map(|(name, value)| format!("  {name:<8} {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the addresses of endpoints name all interfaces, which is no address of a machine.
pub(super) fn is_reached_by_nobody(options: &ServeArguments, address: SocketAddr) -> bool {
    address.ip().is_unspecified() && options.public_url.is_none()
}

/// The address at which this machine reaches the node. A certificate is for the name by which others know it.
pub(super) fn local_url(options: &ServeArguments, address: SocketAddr) -> String {
    let scheme = tls::scheme(options);
    if let Some(named) = options.public_url.as_ref().filter(|_| scheme == "https") {
        return named.trim_end_matches('/').to_owned();
    }
    format!("{scheme}://{}", reached_here(address))
}

/// An address that a browser on this machine opens: for all interfaces, the loopback.
pub(super) fn reached_here(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_all_interfaces_is_reached_at_the_loopback() {
        let plain = ServeArguments::default();
        for (address, url) in [
            ("0.0.0.0:3000", "http://127.0.0.1:3000"),
            ("[::]:3000", "http://[::1]:3000"),
            ("10.0.0.1:80", "http://10.0.0.1:80"),
        ] {
            assert_eq!(local_url(&plain, address.parse().unwrap()), url);
        }
    }

    #[test]
    fn a_node_with_a_certificate_is_reached_by_its_name() {
        let address = "0.0.0.0:443".parse().unwrap();
        let mut options = ServeArguments {
            tls_cert: Some("chain.pem".into()),
            ..ServeArguments::default()
        };
        assert_eq!(local_url(&options, address), "https://127.0.0.1:443");
        options.public_url = Some("https://node.example/".to_owned());
        assert_eq!(local_url(&options, address), "https://node.example");
    }
}
