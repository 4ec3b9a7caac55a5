//! The parts of the node that pages need.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use headwater_model::id::SessionId;
use headwater_platform::{Environment, Platform};
use parking_lot::Mutex;
use url::{Host, Url};

use crate::progress::Works;

/// The web UI of a node.
pub(crate) struct Ui {
    pub(crate) platform: Arc<Platform>,
    pub(crate) streams: Streams,
    /// The forms whose progress is told.
    pub(crate) works: Works,
    /// The host of the public URL.
    public_host: Option<String>,
    /// Whether browsers come over TLS when they come by the public URL.
    is_public_tls: bool,
    /// The node's path on the public host, without a slash at its end.
    public_path: String,
}

impl Ui {
    pub(crate) fn new(platform: Arc<Platform>) -> Self {
        let public = Url::parse(&platform.config().public_url).ok();
        let public_host = public.as_ref().and_then(Url::host_str).map(str::to_owned);
        let is_public_tls = public.as_ref().is_some_and(|url| url.scheme() == "https");
        let path = public.as_ref().map_or("", Url::path);
        let public_path = path.trim_end_matches('/').to_owned();
        Self {
            platform,
            streams: Streams::default(),
            works: Works::default(),
            public_host,
            is_public_tls,
            public_path,
        }
    }

    pub(crate) fn env(&self) -> &Environment {
        self.platform.environment()
    }

    /// The name of an app for people: its slug, if the catalog does not have it.
    pub(crate) fn app_name<'a>(&'a self, slug: &'a str) -> &'a str {
        let known = self.platform.config().apps.get(slug);
        known.map_or(slug, |app| &app.name)
    }

    /// Whether a browser may come under this `Host`: the public URL's, this machine's, or an address. Another name may be
    /// a stranger's that leads here, whose pages would then be of this origin.
    pub(crate) fn is_own_host(&self, host: &str) -> bool {
        let name = name_of(host);
        if self
            .public_host
            .as_deref()
            .is_some_and(|own| own.eq_ignore_ascii_case(name))
        {
            return true;
        }
        match Host::parse(name) {
            Ok(Host::Ipv4(_) | Host::Ipv6(_)) => true,
            Ok(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Err(_) => name.parse::<IpAddr>().is_ok(),
        }
    }

    /// Whether this `Host` means the machine that the browser is on.
    pub(crate) fn is_loopback(host: &str) -> bool {
        match Host::parse(name_of(host)) {
            Ok(Host::Ipv4(address)) => address.is_loopback(),
            Ok(Host::Ipv6(address)) => address.is_loopback(),
            Ok(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Err(_) => false,
        }
    }

    /// Whether the browser that came under this `Host` did so over TLS.
    pub(crate) fn is_tls(&self, host: &str) -> bool {
        self.is_public_tls && self.public_host.as_deref() == Some(name_of(host))
    }

    /// The path under which browsers find the node, for cookies.
    pub(crate) fn public_path(&self) -> &str {
        &self.public_path
    }
}

/// Streams of one session that are open at once.
const STREAMS_MAX: usize = 16;

/// The streams that are open, by session.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<SessionId, usize>>>);

/// The place of one stream, until it is dropped.
pub(crate) struct StreamPlace {
    streams: Streams,
    session: SessionId,
}

impl Streams {
    /// A place for another stream of the session, if it has not too many.
    pub(crate) fn enter(&self, session: &SessionId) -> Option<StreamPlace> {
        let mut open = self.0.lock();
        let count = open.entry(session.clone()).or_default();
        if *count >= STREAMS_MAX {
            return None;
        }
        *count += 1;
        Some(StreamPlace {
            streams: self.clone(),
            session: session.clone(),
        })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock();
        if let Some(count) = open.get_mut(&self.session) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.session);
            }
        }
    }
}

/// The name in a `Host`, without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_a_bounded_number_of_streams() {
        let streams = Streams::default();
        let [one, two] =
            [1, 2].map(|id| SessionId::new(headwater_model::time::EpochMs(1), id << 64));
        let mut places: Vec<_> = (0..STREAMS_MAX)
            .map(|_| streams.enter(&one).unwrap())
            .collect();
        assert!(streams.enter(&one).is_none());
        assert!(streams.enter(&two).is_some());
        places.pop();
        assert!(streams.enter(&one).is_some());
        drop(places);
        assert!(streams.0.lock().is_empty());
    }

    #[test]
    fn ports_are_no_part_of_names() {
        for (host, name) in [
            ("localhost:3000", "localhost"),
            ("localhost", "localhost"),
            ("[::1]:3000", "[::1]"),
            ("[::1]", "[::1]"),
            ("127.0.0.1:80", "127.0.0.1"),
        ] {
            assert_eq!(name_of(host), name);
        }
    }
}
