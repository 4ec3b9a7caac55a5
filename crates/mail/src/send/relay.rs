//! The relay that takes the messages, read from its URL. Its password is in no text and no debug output.

use std::{fmt, net::IpAddr};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use percent_encoding::percent_decode_str;
use url::Url;

use super::error::InvalidSender;

/// The ways of giving a password, the usual one first.
pub(super) const MECHANISMS: &[Mechanism] = &[Mechanism::Plain, Mechanism::Login];

/// A relay.
#[derive(Clone)]
pub(super) struct Relay {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: Security,
    login: Option<(String, String)>,
}

/// The moment at which the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    FromTheStart,
    WhenOffered,
    Required,
    Never,
}

impl Relay {
    pub(super) fn read(text: &str) -> Result<Self, InvalidSender> {
        let url = Url::parse(text).map_err(|_| InvalidSender::Url)?;
        let security = security(&url)?;
        let host = url.host_str().filter(|host| !host.is_empty());
        // Brackets of an address are the URL's.
        let host = host
            .ok_or(InvalidSender::Host)?
            .trim_matches(['[', ']'])
            .to_owned();
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(InvalidSender::Url);
        }
        let login = login(&url)?;
        let usual_port = match (security, &login) {
            (Security::FromTheStart, _) => 465,
            (_, Some(_)) => 587,
            (_, None) => 25,
        };
        Ok(Self {
            host,
            port: url.port().unwrap_or(usual_port),
            security,
            login,
        })
    }

    pub(super) fn credentials(&self) -> Option<Credentials> {
        let (user, password) = self.login.clone()?;
        Some(Credentials::new(user, password))
    }

    /// Whether the password may go over an unencrypted connection: within this machine, or where the URL says so.
    pub(super) fn may_see_the_password(&self) -> bool {
        let is_loopback = match self.host.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback(),
            Err(_) => self.host == "localhost",
        };
        is_loopback || self.security == Security::Never
    }

    /// A text without the password, in case the relay said it back.
    pub(super) fn without_password(&self, text: &str) -> String {
        let Some((user, password)) = &self.login else {
            return text.to_owned();
        };
        let written = [
            BASE64_STANDARD.encode(format!("\0{user}\0{password}")),
            BASE64_STANDARD.encode(password),
            password.clone(),
        ];
        let mut text = text.to_owned();
        for secret in written.iter().filter(|secret| !secret.is_empty()) {
            text = text.replace(secret.as_str(), "…");
        }
        text
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relay({self}, {:?})", self.security)
    }
}

fn security(url: &Url) -> Result<Security, InvalidSender> {
    let mut security = match url.scheme() {
        "smtps" => Security::FromTheStart,
        "smtp" => Security::WhenOffered,
        _ => return Err(InvalidSender::Scheme),
    };
    for (key, value) in url.query_pairs() {
        security = match (&*key, &*value, security) {
            ("tls", "required", Security::FromTheStart) => Security::FromTheStart,
            ("tls", "required", _) => Security::Required,
            ("tls", "never", Security::WhenOffered) => Security::Never,
            _ => return Err(InvalidSender::Query),
        };
    }
    Ok(security)
}

fn login(url: &Url) -> Result<Option<(String, String)>, InvalidSender> {
    let decoded = |text: &str| {
        let text = percent_decode_str(text).decode_utf8();
        text.map(std::borrow::Cow::into_owned)
            .map_err(|_| InvalidSender::Login)
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        ("", Some(_)) | (_, None) => Err(InvalidSender::Login),
        (user, Some(password)) => Ok(Some((decoded(user)?, decoded(password)?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_host_port_security_and_login() {
        for (url, shown, security) in [
            (
                "smtps://mail.example.com",
                "mail.example.com:465",
                Security::FromTheStart,
            ),
            (
                "smtps://a:b@mail.example.com:4650",
                "mail.example.com:4650",
                Security::FromTheStart,
            ),
            (
                "smtp://mail.example.com",
                "mail.example.com:25",
                Security::WhenOffered,
            ),
            (
                "smtp://a:b@mail.example.com/",
                "mail.example.com:587",
                Security::WhenOffered,
            ),
            (
                "smtp://mail.example.com?tls=required",
                "mail.example.com:25",
                Security::Required,
            ),
            ("smtp://[::1]:2525?tls=never", "[::1]:2525", Security::Never),
        ] {
            let relay = Relay::read(url).unwrap();
            assert_eq!(
                (relay.to_string().as_str(), relay.security),
                (shown, security),
                "{url}"
            );
        }
        let relay = Relay::read("smtp://jane%40a.example:p%C3%A4ss%2F%40@host").unwrap();
        let login = ("jane@a.example".to_owned(), "päss/@".to_owned());
        assert_eq!(relay.login, Some(login));
    }

    #[test]
    fn a_wrong_url_is_told_without_what_is_in_it() {
        for (url, wanted) in [
            ("mail.example.com", InvalidSender::Url),
            ("smtp://user:hush@host:notaport", InvalidSender::Url),
            ("smtp://user:hush@host/folder", InvalidSender::Url),
            ("https://user:hush@host", InvalidSender::Scheme),
            ("smtp://", InvalidSender::Host),
            ("smtp://user@host", InvalidSender::Login),
            ("smtp://:hush@host", InvalidSender::Login),
            ("smtp://user:hush@host?tls=maybe", InvalidSender::Query),
            ("smtps://user:hush@host?tls=never", InvalidSender::Query),
            ("smtp://user:hush@host?tsl=never", InvalidSender::Query),
        ] {
            let error = Relay::read(url).unwrap_err();
            assert_eq!(error, wanted, "{url}");
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }

    #[test]
    fn the_password_is_not_shown() {
        let relay = Relay::read("smtp://jane:hush@host").unwrap();
        assert!(!format!("{relay:?} {relay}").contains("hush"));
        let said = format!(
            "you said hush, {} and AGphbmUAaHVzaA==",
            BASE64_STANDARD.encode("hush")
        );
        assert_eq!(relay.without_password(&said), "you said …, … and …");
    }

    #[test]
    fn a_password_goes_unencrypted_to_this_machine_only_unless_told_so() {
        for (url, may) in [
            ("smtp://a:b@localhost", true),
            ("smtp://a:b@127.0.0.1", true),
            ("smtp://a:b@[::1]", true),
            ("smtp://a:b@mail.example.com", false),
            ("smtp://a:b@192.0.2.1", false),
            ("smtp://a:b@mail.example.com?tls=never", true),
        ] {
            assert_eq!(
                Relay::read(url).unwrap().may_see_the_password(),
                may,
                "{url}"
            );
        }
    }
}
