//! Browsers that are signed in to the web UI. Cookies are never shown.

use headwater_model::{
    id::{KeyId, SessionId},
    time::EpochMs,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::id;

/// A browser that is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Session {
    #[schema(value_type = id::Session)]
    id: SessionId,
    /// The API key that it was begun with, and ends with.
    #[schema(value_type = id::Key)]
    key_id: KeyId,
    #[schema(value_type = u64)]
    created_at_ms: EpochMs,
    /// To the minute.
    #[schema(value_type = u64)]
    last_used_at_ms: EpochMs,
    /// Ends then, if not earlier because nobody used it for seven days.
    #[schema(value_type = u64)]
    expires_at_ms: EpochMs,
    /// The address that it was begun from. Null if it is not known.
    #[schema(required)]
    address: Option<String>,
    /// The name that the browser gave itself.
    user_agent: String,
}

impl From<headwater_platform::Session> for Session {
    fn from(session: headwater_platform::Session) -> Self {
        Self {
            id: session.id,
            key_id: session.key_id,
            created_at_ms: session.created_at_ms,
            last_used_at_ms: session.last_used_at_ms,
            expires_at_ms: session.expires_at_ms,
            address: session.address,
            user_agent: session.user_agent,
        }
    }
}

/// A link that signs one browser in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignInLink {
    /// To be opened in a browser, once. Shown only here.
    url: String,
    #[schema(value_type = u64)]
    expires_at_ms: EpochMs,
}

impl From<headwater_platform::NewSignInLink> for SignInLink {
    fn from(link: headwater_platform::NewSignInLink) -> Self {
        Self {
            url: link.url,
            expires_at_ms: link.expires_at_ms,
        }
    }
}
