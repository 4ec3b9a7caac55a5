//! An HTTP client that keeps to a [`NetworkPolicy`] at connect time: names are resolved here and
//! refused addresses dropped, so that a name which answers differently the second time gains nothing.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use reqwest::{
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};
use url::{Host, Url};

use super::{CaCertificates, NetworkPolicy};
use crate::api::EngineError;

/// The policy does not allow what a host name or literal stands for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host} {fact}")]
pub struct RefusedAddress {
    host: String,
    fact: &'static str,
}

impl RefusedAddress {
    /// The refusal of a host as it is in a URL.
    fn of(host: &str, policy: &NetworkPolicy) -> Self {
        let fact = match policy {
            NetworkPolicy::PublicOnly | NetworkPolicy::All => {
                "is not a public address; start the node with --allow-private-network to allow it"
            }
            NetworkPolicy::Ranges(_) => {
                "is not a public address, nor in a range that the node allows; add one to its --allow-private-network"
            }
            NetworkPolicy::Nothing => "may not be reached: there is no network here",
        };
        Self {
            host: host.to_owned(),
            fact,
        }
    }
}

/// A name does not resolve.
#[derive(Debug, thiserror::Error)]
#[error("the name does not resolve")]
pub(super) struct UnresolvedName(#[source] io::Error);

/// Resolves names and drops the addresses that the policy refuses.
#[derive(Debug, Clone)]
pub struct PolicyResolver {
    policy: NetworkPolicy,
}

impl PolicyResolver {
    /// A resolver that keeps to `policy`.
    pub fn new(policy: NetworkPolicy) -> Self {
        Self { policy }
    }
}

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let found: Vec<SocketAddr> = found.map_err(UnresolvedName)?.collect();
            let allowed: Vec<SocketAddr> = found
                .into_iter()
                .filter(|found| policy.is_allowed(found.ip()))
                .collect();
            if allowed.is_empty() {
                return Err(RefusedAddress::of(name.as_str(), &policy).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Checks a literal address in `url`, which no resolver gets to see. Names pass: [`PolicyResolver`] judges them.
///
/// # Errors
/// The literal is refused, or there is no host.
pub fn check_host(policy: &NetworkPolicy, url: &Url) -> Result<(), RefusedAddress> {
    let address = match url.host() {
        Some(Host::Domain(_)) => return Ok(()),
        Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        None => None,
    };
    if address.is_some_and(|address| policy.is_allowed(address)) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or("a URL without a host");
    Err(RefusedAddress::of(host, policy))
}

/// The beginning of an HTTP client that reaches only names which `policy` allows, trusts `ca` besides the
/// web's authorities, and follows no redirects. Literal addresses need [`check_host`].
pub fn client_builder(
    policy: &NetworkPolicy,
    ca: Option<&CaCertificates>,
) -> reqwest::ClientBuilder {
    // Fails only when a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .dns_resolver(PolicyResolver::new(policy.clone()))
        .tls_certs_merge(ca.into_iter().flat_map(CaCertificates::roots))
        .redirect(redirect::Policy::none())
        .no_proxy()
}

/// An HTTP client that reaches only what `policy` allows, on every hop, trusts `ca` besides the web's
/// authorities, and follows `redirects_max` redirects.
///
/// # Errors
/// The TLS stack cannot be set up.
pub fn http_client(
    policy: &NetworkPolicy,
    ca: Option<&CaCertificates>,
    redirects_max: usize,
    timeout: Duration,
) -> Result<reqwest::Client, EngineError> {
    let hops = policy.clone();
    let follow = redirect::Policy::custom(move |attempt| {
        if attempt.previous().len() > redirects_max {
            return attempt.error(format!("more than {redirects_max} redirects"));
        }
        if !matches!(attempt.url().scheme(), "http" | "https") {
            return attempt.error("redirected to something that is not HTTP");
        }
        match check_host(&hops, attempt.url()) {
            Ok(()) => attempt.follow(),
            Err(refused) => attempt.error(refused),
        }
    });
    client_builder(policy, ca)
        .redirect(follow)
        .timeout(timeout)
        .build()
        .map_err(|error| EngineError::Unavailable {
            context: "setting up HTTP".into(),
            reason: error.to_string(),
        })
}
