//! The options about the network: the addresses that may be reached, the targets of some host names,
//! and the trusted certificates.

use std::collections::HashSet;

use anyhow::{Context as _, Result};
use headwater_engine::network::{CaCertificates, NetworkPolicy, Route};

use super::arguments::ServeArguments;
use crate::usage_error::UsageError;

/// The network of a node.
pub(super) struct Network {
    pub(super) policy: NetworkPolicy,
    pub(super) routes: Vec<Route>,
    pub(super) ca: Option<CaCertificates>,
}

impl Network {
    /// Reads the options, and the file with certificates.
    pub(super) fn of(options: &ServeArguments) -> Result<Self> {
        let policy = policy(options)?;
        let routes = routes(options, &policy)?;
        let ca = ca(options)?;
        Ok(Self { policy, routes, ca })
    }
}

fn policy(options: &ServeArguments) -> Result<NetworkPolicy> {
    match options.allow_private_network.as_deref() {
        None => Ok(NetworkPolicy::PublicOnly),
        Some(ranges) => ranges
            .parse()
            .map_err(|error| UsageError(format!("--allow-private-network: {error}")).into()),
    }
}

fn routes(options: &ServeArguments, policy: &NetworkPolicy) -> Result<Vec<Route>> {
    let mut routes = Vec::new();
    for host in options.self_alias.iter().flatten() {
        routes.push(Route::to_this_node(host));
    }
    for text in options.resolve.iter().flatten() {
        let route: Route = text
            .parse()
            .map_err(|error| UsageError(format!("--resolve: {error}")))?;
        if let Some(ip) = route.ip().filter(|&ip| !policy.is_allowed(ip)) {
            let reason = format!(
                "--resolve: components may not reach {ip}, the address for {}; allow it with \
                 --allow-private-network={ip}",
                route.host
            );
            return Err(UsageError(reason).into());
        }
        routes.push(route);
    }
    let mut hosts = HashSet::new();
    match routes.iter().find(|route| !hosts.insert(&route.host)) {
        Some(Route { host, .. }) => {
            let reason = format!("--resolve: `{host}` is named twice; name each host once");
            Err(UsageError(reason).into())
        }
        None => Ok(routes),
    }
}

fn ca(options: &ServeArguments) -> Result<Option<CaCertificates>> {
    let Some(path) = &options.ca_certificate else {
        return Ok(None);
    };
    let shown = path.display();
    let pem =
        std::fs::read(path).with_context(|| format!("--ca-certificate: cannot read {shown}"))?;
    let ca = CaCertificates::from_pem(&pem)
        .map_err(|error| UsageError(format!("--ca-certificate: {shown}: {error}")))?;
    Ok(Some(ca))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn options(resolve: &[&str], private: Option<&str>) -> ServeArguments {
        ServeArguments {
            resolve: Some(resolve.iter().map(|&text| text.to_owned()).collect()),
            self_alias: Some(vec!["API.example.org".to_owned()]),
            allow_private_network: private.map(str::to_owned),
            ..ServeArguments::default()
        }
    }

    fn refused(options: &ServeArguments) -> String {
        Network::of(options).err().unwrap().to_string()
    }

    #[test]
    fn hosts_lead_to_this_node_or_to_an_address_that_may_be_reached() {
        let network = Network::of(&options(
            &["a.example.com=10.1.2.3:8443"],
            Some("10.1.0.0/16"),
        ))
        .unwrap();
        let hosts: Vec<_> = network.routes.iter().map(|route| &route.host[..]).collect();
        assert_eq!(hosts, ["api.example.org", "a.example.com"]);
        let address: IpAddr = "10.1.2.3".parse().unwrap();
        assert_eq!(network.routes[1].ip(), Some(address));
    }

    #[test]
    fn an_address_that_may_not_be_reached_is_refused_with_the_flag_that_allows_it() {
        let error = refused(&options(&["a.example.com=10.1.2.3"], None));
        assert!(
            error.contains("--allow-private-network=10.1.2.3"),
            "{error}"
        );
    }

    #[test]
    fn a_host_has_one_route() {
        for again in ["a.example.com=1.1.1.2", "api.example.org=1.1.1.2"] {
            let error = refused(&options(&["A.example.com=1.1.1.1", again], None));
            assert!(error.contains("named twice"), "{error}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("internal.pem");
        let mut given = options(&[], None);
        given.ca_certificate = Some(path.clone());
        assert!(refused(&given).contains("cannot read"));
        std::fs::write(&path, "no certificate").unwrap();
        let error = refused(&given);
        assert!(
            error.contains("internal.pem") && error.contains("BEGIN CERTIFICATE"),
            "{error}"
        );
    }
}
