//! API keys. The key itself is only in the answer that creates it.

use headwater_model::{
    id::{KeyId, UserId},
    time::EpochSeconds,
};
use headwater_platform::ApiKey;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::id;

/// A key to create.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CreateKey {
    /// The purpose of the key.
    #[schema(required, nullable = false)]
    pub(crate) name: Option<String>,
    /// The user of the key, if not the caller; for the administrator.
    #[schema(value_type = Option<id::User>)]
    pub(crate) user_id: Option<UserId>,
}

/// `GET /keys`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct KeysRequest {
    /// The user of the key, if not the caller; for the administrator.
    #[param(value_type = Option<id::User>)]
    pub(crate) user_id: Option<UserId>,
}

/// A key as it is listed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Key {
    #[schema(value_type = id::Key)]
    id: KeyId,
    #[schema(value_type = id::User)]
    user_id: UserId,
    name: String,
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Null if never; to the minute.
    #[schema(required, value_type = Option<u64>)]
    last_used_at: Option<EpochSeconds>,
    /// Whether the request was sent with it.
    is_current: bool,
}

impl Key {
    /// The key, as shown to a caller who came with `current`.
    pub(crate) fn seen_with(key: ApiKey, current: &KeyId) -> Self {
        Self {
            is_current: key.id == *current,
            id: key.id,
            user_id: key.user_id,
            name: key.name,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
        }
    }
}

/// A key that has just been created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewKey {
    #[serde(flatten)]
    shown: Key,
    /// Shown only here.
    key: String,
}

impl NewKey {
    /// The key, as shown to a caller who came with `current`.
    pub(crate) fn seen_with(new: headwater_platform::NewKey, current: &KeyId) -> Self {
        Self {
            shown: Key::seen_with(new.key, current),
            key: new.secret,
        }
    }
}

/// The result of rotating the secret key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SecretKeyRotation {
    /// Accounts, webhooks, sources and their deployments whose secrets are now encrypted with the new key.
    resealed: u64,
    /// Those whose secrets no key of the node decrypts; enter these again.
    unreadable: u64,
}

impl From<headwater_platform::Rotation> for SecretKeyRotation {
    fn from(done: headwater_platform::Rotation) -> Self {
        Self {
            resealed: done.resealed,
            unreadable: done.unreadable,
        }
    }
}
