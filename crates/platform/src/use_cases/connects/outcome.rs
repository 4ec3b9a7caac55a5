//! The end of a connect, as the user in the browser is told.

use crate::error::PlatformError;

/// An account that has just been connected, as the user in the browser is told.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The app's name.
    pub app: String,
    /// The account's name.
    pub account: String,
    /// Why it may not be good all the same.
    pub doubt: Option<String>,
}

/// Why the user in the browser gets no account. What to do next is said in it.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The link or what came back is of no use any more, or never was.
    #[error("{0}")]
    Invalid(&'static str),
    /// The way ended without an account.
    #[error("{0}")]
    Failed(String),
    /// The node could not do its part.
    #[error(transparent)]
    Platform(#[from] PlatformError),
}

pub(super) const LINK_OVER: &str = "This link is not valid: it has been used, or its time is over. \
     Ask for a new one where you got it, with `headwater accounts connect` for example.";
pub(super) const STATE_OVER: &str = "What the app sent back belongs to no connection that is under way: it was used already, \
     took too long, or was begun elsewhere. Begin again with a new link.";
pub(super) const OTHER_BROWSER: &str = "This connection was begun in another browser. \
     Follow a new link, and consent in the same browser.";
