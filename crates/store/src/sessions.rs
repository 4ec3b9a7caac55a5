//! Browsers that are signed in, and the links by which one signs in.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{KeyId, SessionId, UserId},
    page::{Page, PageRequest},
    time::EpochMs,
};

use crate::{error::StoreError, tenants::Identity};

/// A browser that is signed in. It is its key's: it ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// SHA-256 of the cookie, hexadecimal.
    pub hash: SecretHash,
    /// The user.
    pub user_id: UserId,
    /// The key that it was begun with.
    pub key_id: KeyId,
    /// When it was begun.
    pub created_at_ms: EpochMs,
    /// When it was last used; may lag behind by as long as noting it is put off.
    pub last_used_at_ms: EpochMs,
    /// When it ends, used or not.
    pub expires_at_ms: EpochMs,
    /// The address of the browser when it signed in, if that is known.
    pub address: Option<String>,
    /// The name that the browser gave itself.
    pub user_agent: String,
}

/// A link that signs one browser in, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInLink {
    /// SHA-256 of its token, hexadecimal.
    pub hash: SecretHash,
    /// The key whose user it signs in.
    pub key_id: KeyId,
    /// When it opens nothing any more.
    pub expires_at_ms: EpochMs,
}

/// Sessions of browsers.
#[async_trait]
pub trait Sessions {
    /// Writes a session; one that ended at or before its beginning is forgotten, whoever had it.
    /// MUST refuse with `Gone` when its key is (`conformance::sessions::a_session_ends_with_its_key`).
    async fn create_session(&self, session: Session) -> Result<(), StoreError>;

    /// The session with this hash and the current identity behind its key, unless it has ended by `now_ms`, or was
    /// not used since `idle_since_ms` (`conformance::sessions::a_session_ends_in_time_and_when_it_is_idle`).
    async fn session(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
        idle_since_ms: EpochMs,
    ) -> Result<Option<(Session, Identity)>, StoreError>;

    /// Notes that a session is used. One that is gone is passed over.
    async fn note_session_use(&self, id: &SessionId, now_ms: EpochMs) -> Result<(), StoreError>;

    /// A page of the user's sessions in creation order, those that ended in time included until they are forgotten.
    async fn sessions(
        &self,
        user_id: &UserId,
        page: &PageRequest<SessionId>,
    ) -> Result<Page<Session>, StoreError>;

    /// Ends a session of this user. False: there was none.
    async fn end_session(&self, user_id: &UserId, id: &SessionId) -> Result<bool, StoreError>;

    /// Writes a link; those that ended by `now_ms` are forgotten. `Gone` when its key is.
    async fn create_sign_in_link(
        &self,
        link: SignInLink,
        now_ms: EpochMs,
    ) -> Result<(), StoreError>;

    /// The identity that the link would sign in, unless it has ended or was used.
    async fn sign_in_link(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
    ) -> Result<Option<Identity>, StoreError>;

    /// Uses a link up and writes the session that it begins, together. False: it has ended or was used, and
    /// nothing is written.
    /// MUST do so once per link (`conformance::sessions::a_link_signs_in_once`).
    async fn sign_in_by_link(
        &self,
        hash: &SecretHash,
        session: Session,
    ) -> Result<bool, StoreError>;
}
