//! One request of a browser: who asks, and how the page is to look.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request},
    http::{Extensions, HeaderMap, HeaderValue, Uri, header, request::Parts},
};
use headwater_model::{id::WorkspaceId, time::EpochMs};
use headwater_platform::{Caller, Platform, Remote, SignedIn};
use url::form_urlencoded;

use crate::{
    cookie::{Cookie, Cookies},
    problem::Problem,
    state::Ui,
};

/// The look of pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the browser has it.
    #[default]
    System,
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

impl Theme {
    /// All of them, with their values in forms and the cookie.
    pub(crate) const ALL: [(Self, &'static str); 3] = [
        (Self::System, "system"),
        (Self::Light, "light"),
        (Self::Dark, "dark"),
    ];

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find_map(|(theme, name)| (name == text).then_some(theme))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// One request.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) signed_in: Option<SignedIn>,
    pub(crate) cookies: Cookies,
    pub(crate) nonce: String,
    pub(crate) theme: Theme,
    /// Whether payloads, headers and logs are hidden.
    pub(crate) is_masked: bool,
    pub(crate) flash: Option<String>,
    pub(crate) now_ms: EpochMs,
    /// Whether the browser came under a name of this machine.
    pub(crate) is_local: bool,
    /// Path and query.
    pub(crate) location: String,
    /// The name under which the browser follows what the request begins.
    pub(crate) progress: Option<String>,
    /// Path and query of the page of this node that led here.
    pub(crate) came_from: Option<String>,
    /// The workspace whose things lists show; the person's own without one.
    pub(crate) workspace: Option<WorkspaceId>,
}

impl Visit {
    /// The value of a parameter of the page's address.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.location.split_once('?')?;
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let found = pairs.find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.into_owned())
    }

    /// Whether the page's address has a parameter, empty or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        let query = self.location.split_once('?').map(|(_, query)| query);
        let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        pairs.any(|(key, _)| key == name)
    }

    /// The child of a value that a tree begins with.
    pub(crate) fn first_child(&self) -> usize {
        let from = self.parameter("from");
        from.and_then(|from| from.parse().ok()).unwrap_or_default()
    }

    /// The name of the workspace whose things lists show, if the visitor is a member.
    pub(crate) fn workspace_name(&self) -> Option<&str> {
        let (id, signed_in) = (self.workspace.as_ref()?, self.signed_in.as_ref()?);
        let workspaces = &signed_in.caller.identity.workspaces;
        let chosen = workspaces.iter().find(|workspace| workspace.id == *id);
        chosen.map(|workspace| workspace.name.as_str())
    }

    /// The path of the page, without its query.
    pub(crate) fn path(&self) -> &str {
        self.location.split('?').next().unwrap_or_default()
    }
}

/// The request of a page for people who are signed in.
pub(crate) struct Visitor(pub(crate) Arc<Visit>);

impl Visitor {
    /// The user behind the session.
    pub(crate) fn caller(&self) -> &Caller {
        &self.signed_in().caller
    }

    /// The value of the session's cookie, by which a stream asks whether it still is one.
    pub(crate) fn session_secret(&self) -> String {
        self.0.cookies.get(Cookie::Session).unwrap_or_default()
    }

    pub(crate) fn signed_in(&self) -> &SignedIn {
        let signed_in = self.0.signed_in.as_ref();
        signed_in.expect("a visitor is extracted only from a visit that is signed in")
    }
}

impl std::ops::Deref for Visitor {
    type Target = Visit;

    fn deref(&self) -> &Visit {
        &self.0
    }
}

impl FromRequestParts<Arc<Ui>> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Ui>) -> Result<Self, Problem> {
        let visit = parts.extensions.get::<Arc<Visit>>();
        let visit = visit.filter(|visit| visit.signed_in.is_some());
        visit
            .map(|visit| Self(Arc::clone(visit)))
            .ok_or_else(Problem::signed_out)
    }
}

/// The request of a page for anybody.
pub(crate) struct AnyVisitor(pub(crate) Arc<Visit>);

impl FromRequestParts<Arc<Ui>> for AnyVisitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Ui>) -> Result<Self, Problem> {
        let visit = parts.extensions.get::<Arc<Visit>>();
        visit
            .map(|visit| Self(Arc::clone(visit)))
            .ok_or_else(Problem::signed_out)
    }
}

/// The browser, as far as it is known.
pub(crate) struct FromBrowser(pub(crate) Remote);

impl FromRequestParts<Arc<Ui>> for FromBrowser {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, ui: &Arc<Ui>) -> Result<Self, Self::Rejection> {
        Ok(Self(remote(
            &ui.platform,
            &parts.extensions,
            &parts.headers,
        )))
    }
}

/// The browser that sent a request.
pub(crate) fn remote(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> Remote {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let forwarded = headers.get_all("x-forwarded-for").iter();
    let forwarded = forwarded.filter_map(|header| header.to_str().ok());
    let proxies = &platform.config().trusted_proxies;
    let address = peer.map(|ConnectInfo(peer)| proxies.caller(peer.ip(), forwarded));
    let agent = headers.get(header::USER_AGENT);
    Remote::new(address, agent.map(HeaderValue::as_bytes))
}

/// Path and query of the page of this host that led to a request.
pub(crate) fn came_from(headers: &HeaderMap, host: &str) -> Option<String> {
    let page: Uri = headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    let is_own = page
        .authority()
        .is_some_and(|own| own.as_str().eq_ignore_ascii_case(host));
    let path = page.path_and_query()?.as_str();
    (is_own && !path.starts_with("//")).then(|| path.to_owned())
}

/// The host that a browser came under, with its port if it is not the usual one.
pub(crate) fn host_of(request: &Request) -> String {
    let of_uri = request.uri().authority().map(ToString::to_string);
    let of_header = request.headers().get(header::HOST);
    let of_header = of_header
        .and_then(|host| host.to_str().ok())
        .map(str::to_owned);
    of_uri.or(of_header).unwrap_or_default()
}
