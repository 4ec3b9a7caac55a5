//! The endpoint that a request is meant for, and the part of its path that is the component's.

use axum::{
    extract::Request,
    http::{Uri, header::HOST},
};
use headwater_model::endpoint::EndpointToken;
use headwater_platform::PlatformConfig;

/// Below this path every segment is a token.
pub(crate) const PREFIX: &str = "/e/";

/// Token and path of `/e/{token}{path}`, the path exactly as it was sent and never empty.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix(PREFIX)?;
    let (token, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    (!token.is_empty()).then_some((token, path))
}

/// The domain whose direct subdomains are endpoints.
#[derive(Debug)]
pub(crate) struct EndpointDomain {
    /// `.example.com`
    suffix: String,
    /// The node's own host, should it lie in the domain.
    node: Option<String>,
}

impl EndpointDomain {
    /// The configured domain, if any.
    pub(crate) fn of(config: &PlatformConfig) -> Option<Self> {
        let domain = config.endpoint_domain.as_deref()?;
        let node = config.public_url.parse::<Uri>().ok();
        Some(Self {
            suffix: format!(".{}", without_port(domain).to_ascii_lowercase()),
            node: node.and_then(|url| Some(url.host()?.to_ascii_lowercase())),
        })
    }

    /// The token in the request's host, if that is an endpoint.
    pub(crate) fn token(&self, request: &Request) -> Option<EndpointToken> {
        // HTTP/2 has the host in the URI.
        let host = match request.uri().host() {
            Some(host) => host,
            None => request.headers().get(HOST)?.to_str().ok()?,
        };
        self.token_in(host).map(EndpointToken::new)
    }

    fn token_in(&self, host: &str) -> Option<String> {
        let host = without_port(host)
            .trim_end_matches('.')
            .to_ascii_lowercase();
        let token = host.strip_suffix(&self.suffix)?;
        let is_label = !token.is_empty() && !token.contains('.');
        (is_label && self.node.as_deref() != Some(host.as_str())).then(|| token.to_owned())
    }
}

fn without_port(host: &str) -> &str {
    host.split_once(':').map_or(host, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_after_the_token_is_kept_exactly() {
        for (path, expected) in [
            ("/e/tok", Some(("tok", "/"))),
            ("/e/tok/", Some(("tok", "/"))),
            ("/e/tok/a/b/", Some(("tok", "/a/b/"))),
            ("/e/tok//a%2Fb", Some(("tok", "//a%2Fb"))),
            ("/e/", None),
            ("/e//a", None),
            ("/x/tok", None),
        ] {
            assert_eq!(split(path), expected, "{path}");
        }
    }

    #[test]
    fn direct_subdomains_are_endpoints_but_not_the_node_itself() {
        let domain = EndpointDomain {
            suffix: ".example.com".to_owned(),
            node: Some("api.example.com".to_owned()),
        };
        for (host, token) in [
            ("tok.example.com", Some("tok")),
            ("TOK.Example.com:8443", Some("tok")),
            ("tok.example.com.", Some("tok")),
            ("api.example.com", None),
            ("example.com", None),
            (".example.com", None),
            ("a.b.example.com", None),
            ("tok.example.org", None),
            ("tokexample.com", None),
        ] {
            assert_eq!(domain.token_in(host).as_deref(), token, "{host}");
        }
    }
}
