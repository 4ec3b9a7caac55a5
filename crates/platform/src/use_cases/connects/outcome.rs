//! The end of a connect, as shown to the user in the browser.

use crate::error::PlatformError;

/// An account that has just been connected, as shown to the user in the browser.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The app's name.
    pub app: String,
    /// The account's name.
    pub account: String,
    /// The reason why it may not work all the same.
    pub warning: Option<String>,
}

/// The reason why the user in the browser gets no account, with the next step.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The link or the app's answer is not valid any more, or never was.
    #[error("{0}")]
    Invalid(&'static str),
    /// The connect ended without an account.
    #[error("{0}")]
    Failed(String),
    /// The node could not do its part.
    #[error(transparent)]
    Platform(#[from] PlatformError),
}

pub(super) const LINK_OVER: &str = "This link is not valid: it was used already, or it has expired. \
     Request a new link, for example with `headwater accounts connect`.";
pub(super) const STATE_OVER: &str = "The app's answer does not belong to a connection in progress: it \
     was used already, came too late, or was started elsewhere. Start again with a new link.";
pub(super) const OTHER_BROWSER: &str = "This connection was started in another browser. Open a new \
     link, and give your consent in the same browser.";
