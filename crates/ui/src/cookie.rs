//! The node's cookies. Their names begin with `headwater` or `__Host-headwater`, by which requests at endpoints lose
//! them.

use axum::http::{HeaderMap, HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::state::Ui;

/// A cookie of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// The session's secret.
    Session,
    /// The look that the person chose.
    Theme,
    /// Whether payloads are hidden.
    Masking,
    /// The workspace whose things lists show.
    Workspace,
    /// A line that the next page shows once.
    Flash,
}

/// The time for which a browser keeps the session's cookie, and what is for the session; the node ends it then at the latest.
const SESSION_S: u32 = 30 * 24 * 3_600;
/// The time for which a theme is kept.
const THEME_S: u32 = 400 * 24 * 3_600;
/// The time for which a line for the next page is kept.
const FLASH_S: u32 = 60;

/// The cookies of one request: their names depend on how the browser came.
#[derive(Debug, Clone)]
pub(crate) struct Cookies {
    line: String,
    is_tls: bool,
    port: String,
    path: String,
}

impl Cookies {
    pub(crate) fn of(ui: &Ui, headers: &HeaderMap, host: &str) -> Self {
        let lines = headers.get_all(header::COOKIE).iter();
        let lines: Vec<_> = lines.filter_map(|line| line.to_str().ok()).collect();
        let port = host.rsplit_once(':').map(|(_, port)| port);
        let port = port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        Self {
            line: lines.join("; "),
            is_tls: ui.is_tls(host),
            port: port.unwrap_or("80").to_owned(),
            path: ui.public_path().to_owned(),
        }
    }

    /// Whether nobody between browser and node can read them.
    pub(crate) fn are_safe(&self) -> bool {
        self.is_tls
    }

    /// Without TLS the port is in the name: cookies are for all ports of a host, and another node may be there.
    fn name(&self, cookie: Cookie) -> String {
        let suffix = match cookie {
            Cookie::Session => "",
            Cookie::Theme => "-theme",
            Cookie::Masking => "-masking",
            Cookie::Workspace => "-workspace",
            Cookie::Flash => "-flash",
        };
        match self.is_tls {
            true => format!("__Host-headwater{suffix}"),
            false => format!("headwater-{}{suffix}", self.port),
        }
    }

    pub(crate) fn get(&self, cookie: Cookie) -> Option<String> {
        let name = self.name(cookie);
        let pairs = self.line.split(';').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.into_iter().find(|(key, _)| key.trim() == name)?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some(value.into_owned()).filter(|value| !value.is_empty())
    }

    /// The header that sets a cookie.
    pub(crate) fn set(&self, cookie: Cookie, value: &str) -> HeaderValue {
        let age = match cookie {
            Cookie::Session | Cookie::Masking | Cookie::Workspace => SESSION_S,
            Cookie::Theme => THEME_S,
            Cookie::Flash => FLASH_S,
        };
        self.header(cookie, value, age)
    }

    /// The header that removes a cookie.
    pub(crate) fn remove(&self, cookie: Cookie) -> HeaderValue {
        self.header(cookie, "", 0)
    }

    fn header(&self, cookie: Cookie, value: &str, age_s: u32) -> HeaderValue {
        let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
        // A `__Host-` cookie is for the whole host.
        let path = match self.is_tls {
            true => "/",
            false if self.path.is_empty() => "/",
            false => &self.path,
        };
        let mut text = format!(
            "{}={value}; Path={path}; Max-Age={age_s}; HttpOnly; SameSite=Lax",
            self.name(cookie)
        );
        if self.is_tls {
            text.push_str("; Secure");
        }
        HeaderValue::try_from(text).expect("names, encoded values and paths of URLs are ASCII")
    }
}
