//! The reasons why a sender cannot be used, and why a message was not sent. No text has the password.

/// The reason why the settings of a sender cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSender {
    /// The URL cannot be read, or has a path or fragment.
    #[error(
        "cannot read the SMTP URL; write smtp[s]://user:password@host:port, characters such as @ / # in user and password as %40 %2F %23"
    )]
    Url,
    /// The URL is of another kind.
    #[error("the SMTP URL must begin with smtp:// or smtps://")]
    Scheme,
    /// There is no host.
    #[error("the SMTP URL names no host; write smtp[s]://host:port")]
    Host,
    /// Only one of user and password is there, or they are not UTF-8.
    #[error(
        "the SMTP URL must have a user and a password, or neither; write smtp[s]://user:password@host"
    )]
    Login,
    /// An unknown setting, or one that contradicts `smtps`.
    #[error(
        "the SMTP URL may end with ?tls=required, or with smtp:// with ?tls=never, and nothing else"
    )]
    Query,
    /// The address is not one.
    #[error("`{0}` is not a sender's address; write name@example.com or Name <name@example.com>")]
    From(String),
    /// The certificates cannot be used.
    #[error("cannot read the certificates of the mail server's authority; give them as PEM")]
    Authorities,
}

/// The reason why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The relay does not want it, or it is not a message. Trying again does not help.
    #[error("{0}")]
    Refused(String),
    /// The relay cannot be reached or has no time. Trying again may help.
    #[error("{0}")]
    Unavailable(String),
}
