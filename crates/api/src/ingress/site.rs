//! The site that endpoints are of. By path they share the node's own origin, so whatever a component
//! answers there is answered as another site would be: it may neither act as a page of the node nor
//! leave anything with the browser that reaches beyond its endpoint.
//!
//! On hosts of their own, of another site than the node's, endpoints are their authors'.

use std::borrow::Cow;

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{self, SET_COOKIE},
};
use headwater_platform::PlatformConfig;
use url::{Host, Url};

/// Without `allow-same-origin`: a page has an origin of its own, whatever policy it adds.
const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads",
);
/// Headers that a browser keeps for the whole origin, or beyond it.
const ORIGINS: [&str; 12] = [
    "accept-ch",
    "alt-svc",
    "clear-site-data",
    "nel",
    "public-key-pins",
    "report-to",
    "sec-session-registration",
    "secure-session-registration",
    "service-worker-allowed",
    "set-login",
    "strict-transport-security",
    "use-as-dictionary",
];
/// The beginning of the names of the node's own cookies.
const COOKIES: [&str; 2] = ["headwater", "__host-headwater"];

/// The place of endpoints, seen from the node's own pages.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    /// The path of the public URL, without a slash at its end.
    public_path: String,
    is_by_path_apart: bool,
    is_by_host_apart: bool,
}

/// The place of one endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// Below a path of the node's own host.
    Path { token: &'a str },
    /// A host of its own.
    Host,
}

impl Sites {
    /// Endpoints are set apart where they share the node's site, if that is wanted at all.
    pub(crate) fn of(config: &PlatformConfig, sets_apart: bool) -> Self {
        let public = Url::parse(&config.public_url).ok();
        let path = public.as_ref().map_or("", Url::path);
        let host = public.as_ref().and_then(Url::host);
        let domain = config.endpoint_domain.as_deref().unwrap_or_default();
        Self {
            public_path: path.trim_end_matches('/').to_owned(),
            is_by_path_apart: sets_apart,
            is_by_host_apart: sets_apart && is_same_site(host, domain),
        }
    }

    fn are_apart(&self, place: Place<'_>) -> bool {
        match place {
            Place::Path { .. } => self.is_by_path_apart,
            Place::Host => self.is_by_host_apart,
        }
    }

    /// Sets an answer apart from the node's own pages, whoever gave it.
    pub(crate) fn seal(&self, place: Place<'_>, headers: &mut HeaderMap) {
        if self.are_apart(place) {
            // Policies add up: one of the component's own cannot loosen this.
            headers.append(header::CONTENT_SECURITY_POLICY, SANDBOX);
            let nosniff = HeaderValue::from_static("nosniff");
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        }
    }

    /// A component's header as it may leave from there, if at all.
    pub(super) fn header(
        &self,
        place: Place<'_>,
        name: &HeaderName,
        value: HeaderValue,
    ) -> Option<HeaderValue> {
        let is_apart = self.are_apart(place);
        if name == SET_COOKIE {
            let cookie = std::str::from_utf8(value.as_bytes()).ok()?;
            if is_nodes(name_of(cookie)) {
                return None;
            }
            return match is_apart {
                true => HeaderValue::try_from(self.confined(place, cookie)).ok(),
                false => Some(value),
            };
        }
        (!is_apart || !ORIGINS.contains(&name.as_str())).then_some(value)
    }

    /// The cookie for the endpoint alone: for no other host, and by path for none but its own.
    fn confined(&self, place: Place<'_>, cookie: &str) -> String {
        let root = match place {
            Place::Path { token } => Some(format!("{}/e/{token}", self.public_path)),
            Place::Host => None,
        };
        let mut path = None;
        let mut kept = Vec::new();
        for (position, part) in cookie.split(';').map(str::trim).enumerate() {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "path" if position > 0 => path = Some(value.trim()),
                "domain" if position > 0 => {}
                _ => kept.push(part),
            }
        }
        let path = match &root {
            None => path,
            Some(root) => path
                .filter(|path| path.strip_prefix(root.as_str()).is_some_and(is_below))
                .or(Some(root)),
        };
        let mut cookie = kept.join("; ");
        if let Some(path) = path {
            cookie.push_str("; Path=");
            cookie.push_str(path);
        }
        cookie
    }
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// The name under which a cookie comes back. One without a name comes back as its value, which may look
/// like a name.
fn name_of(cookie: &str) -> &str {
    let pair = cookie.split(';').next().unwrap_or_default().trim();
    let pair = pair.strip_prefix('=').unwrap_or(pair).trim_start();
    pair.split_once('=')
        .map_or(pair, |(name, _)| name)
        .trim_end()
}

fn is_nodes(name: &str) -> bool {
    let begins = |with: &str| {
        let begin = name.get(..with.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(with))
    };
    COOKIES.into_iter().any(begins)
}

/// A `Cookie` line without the cookies of the node's own pages; nothing if there were no others.
pub(super) fn without_nodes_cookies(line: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let mut cookies = line.split(';').map(str::trim);
    if !cookies.any(|cookie| is_nodes(name_of(cookie))) {
        return Some(line);
    }
    let cookies = line.split(';').map(str::trim);
    let others: Vec<_> = cookies
        .filter(|cookie| !is_nodes(name_of(cookie)))
        .collect();
    (!others.is_empty()).then(|| Cow::Owned(others.join("; ")))
}

/// Whether browsers may take hosts below the domain for the node's site. The suffixes that belong to
/// registries are not known here, so that two names in common count as one site.
fn is_same_site(public: Option<Host<&str>>, domain: &str) -> bool {
    let Some(Host::Domain(public)) = public else {
        return public.is_none();
    };
    let domain = domain.split(':').next().unwrap_or_default();
    let site = |host: &str| {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let labels: Vec<_> = host.rsplit('.').take(2).map(str::to_owned).collect();
        labels
    };
    site(public) == site(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Place<'static> = Place::Path { token: "tok" };

    fn sites() -> Sites {
        Sites {
            public_path: "/hw".to_owned(),
            is_by_path_apart: true,
            is_by_host_apart: false,
        }
    }

    fn left(sites: &Sites, place: Place<'_>, name: &str, value: &str) -> Option<String> {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        let value = HeaderValue::from_str(value).unwrap();
        let value = sites.header(place, &name, value)?;
        Some(value.to_str().unwrap().to_owned())
    }

    #[test]
    fn what_reaches_beyond_the_endpoint_does_not_leave() {
        let sites = sites();
        for name in ORIGINS {
            assert_eq!(left(&sites, PATH, name, "x"), None, "{name}");
            let by_host = left(&sites, Place::Host, name, "x");
            assert_eq!(by_host.as_deref(), Some("x"), "{name}");
        }
        for name in [
            "content-security-policy",
            "x-a",
            "location",
            "cache-control",
        ] {
            assert_eq!(
                left(&sites, PATH, name, "x").as_deref(),
                Some("x"),
                "{name}"
            );
        }
    }

    #[test]
    fn cookies_are_for_the_endpoint_alone() {
        let sites = sites();
        for (given, expected) in [
            ("a=1", Some("a=1; Path=/hw/e/tok")),
            ("a=1; Path=/", Some("a=1; Path=/hw/e/tok")),
            (
                "a=1; path=/hw/e/tok/deep ; HttpOnly",
                Some("a=1; HttpOnly; Path=/hw/e/tok/deep"),
            ),
            ("a=1; Path=/hw/e/tokens", Some("a=1; Path=/hw/e/tok")),
            (
                "a=1; Path=/hw/e/tok; PATH=/connect",
                Some("a=1; Path=/hw/e/tok"),
            ),
            (
                "path=1; Domain=example.com; Secure",
                Some("path=1; Secure; Path=/hw/e/tok"),
            ),
            ("headwater_c_1=x", None),
            ("HeadWater-3000=x; Path=/", None),
            ("__Host-headwater=x; Path=/; Secure", None),
            ("=__Host-headwater=x", None),
            (" = headwater-1=x", None),
            ("headwater", None),
        ] {
            let cookie = left(&sites, PATH, "set-cookie", given);
            assert_eq!(cookie.as_deref(), expected, "{given}");
        }
        let by_host = left(&sites, Place::Host, "set-cookie", "a=1; Domain=x; Path=/");
        assert_eq!(by_host.as_deref(), Some("a=1; Domain=x; Path=/"));
    }

    #[test]
    fn the_nodes_cookies_do_not_reach_components() {
        for (line, expected) in [
            ("a=1; b=2", Some("a=1; b=2")),
            ("a=1; headwater_c_1=x; b=2", Some("a=1; b=2")),
            ("__Host-headwater=x", None),
            ("headwater-3000=x;a=1", Some("a=1")),
        ] {
            let kept = without_nodes_cookies(Cow::Borrowed(line));
            assert_eq!(kept.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_site_is_another_one_only_beyond_doubt() {
        for (public, domain, is_same) in [
            ("http://127.0.0.1:3000", "hooks.example.com", false),
            ("https://node.example.com", "example-hooks.net", false),
            ("https://node.example.com", "hooks.example.com", true),
            ("https://example.com", "example.com:8443", true),
            ("https://node.example.co.uk", "other.co.uk", true),
            ("http://localhost:3000", "hooks.example", false),
        ] {
            let url = Url::parse(public).unwrap();
            assert_eq!(
                is_same_site(url.host(), domain),
                is_same,
                "{public} {domain}"
            );
        }
    }

    #[test]
    fn answers_are_sealed_by_path_after_the_components_own_policy() {
        let mut headers = HeaderMap::new();
        let own = HeaderValue::from_static("default-src *");
        headers.insert(header::CONTENT_SECURITY_POLICY, own.clone());
        sites().seal(Place::Host, &mut headers);
        assert_eq!(headers.len(), 1);
        sites().seal(PATH, &mut headers);
        let policies: Vec<_> = headers
            .get_all(header::CONTENT_SECURITY_POLICY)
            .iter()
            .collect();
        assert_eq!(policies, [&own, &SANDBOX]);
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    }
}
