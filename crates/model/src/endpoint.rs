//! The URLs of HTTP interfaces, as far as they are the platform's.

use serde::{Deserialize, Serialize};

/// The unguessable part of an endpoint's URL. Any text may come in a request; one that was never given
/// out leads to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EndpointToken(String);

impl EndpointToken {
    /// A token as it was drawn, read or sent.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The token as it stands in the URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
