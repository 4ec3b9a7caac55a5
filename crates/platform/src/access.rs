//! Who is calling, and what it may see. What another tenant owns does not exist for the caller.

use headwater_model::id::{KeyId, SourceId, UserId, WorkspaceId};
use headwater_store::{Identity, Owner, Source, SourceState};
use sha2::{Digest, Sha256};

use crate::{error::PlatformError, platform::Platform};

/// An authenticated caller.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The user and its workspaces.
    pub identity: Identity,
}

impl Caller {
    /// The caller's user.
    pub fn user_id(&self) -> &UserId {
        &self.identity.user.id
    }

    /// The key that the caller came with.
    pub fn key_id(&self) -> &KeyId {
        &self.identity.key.id
    }

    /// Whether the caller is a member.
    pub fn is_member(&self, workspace_id: &WorkspaceId) -> bool {
        self.identity
            .workspaces
            .iter()
            .any(|workspace| workspace.id == *workspace_id)
    }

    /// Checks that the caller may do what is the administrator's.
    ///
    /// # Errors
    /// `AdminOnly` when it may not.
    pub(crate) fn check_admin(&self) -> Result<(), PlatformError> {
        match self.identity.user.is_admin {
            true => Ok(()),
            false => Err(PlatformError::AdminOnly),
        }
    }

    /// Whether the caller may see what this owner has.
    pub fn may_see(&self, owner: &Owner) -> bool {
        owner.user_id == *self.user_id()
            || owner
                .workspace_id
                .as_ref()
                .is_some_and(|workspace_id| self.is_member(workspace_id))
    }
}

/// The hash under which a key is stored.
pub fn key_hash(key: &str) -> String {
    hex::encode(Sha256::digest(key.as_bytes()))
}

impl Platform {
    /// Whoever has this API key.
    ///
    /// # Errors
    /// `Unauthenticated` when nobody has, `RateLimited` when it is used too often.
    pub async fn authenticate(&self, key: &str) -> Result<Caller, PlatformError> {
        // Never remembered: a key that is revoked, or a membership that ends, is so at once.
        let identity = self.store.identity(&key_hash(key)).await?;
        let identity = identity.ok_or(PlatformError::Unauthenticated)?;
        self.rate_limits.take(&identity.key.id, self.env.now_ms())?;
        self.key_uses.note(&identity.key, self.env.now_at());
        Ok(Caller { identity })
    }

    /// The owner of what the caller makes or lists, in that workspace if one is given.
    ///
    /// # Errors
    /// As [`Platform::check_member`].
    pub(crate) async fn owner(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<Owner, PlatformError> {
        if let Some(id) = &workspace_id {
            self.check_member(caller, id).await?;
        }
        Ok(Owner {
            user_id: caller.user_id().clone(),
            workspace_id,
        })
    }

    /// Checks that the caller is a member.
    ///
    /// # Errors
    /// `Forbidden` when it is not, `NotFound` when there is no such workspace.
    pub(crate) async fn check_member(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<(), PlatformError> {
        if caller.is_member(id) {
            return Ok(());
        }
        match self.store.workspace(id).await? {
            Some(_) => Err(PlatformError::Forbidden(id.to_string())),
            None => Err(PlatformError::not_found("workspace", id)),
        }
    }

    /// A source that the caller may see. A source whose deployment or deletion is under way is there.
    pub(crate) async fn visible_source(
        &self,
        caller: &Caller,
        id: &SourceId,
    ) -> Result<Source, PlatformError> {
        let source = self
            .store
            .source(id)
            .await?
            .filter(|source| caller.may_see(&source.owner));
        source
            .filter(|source| source.state != SourceState::Deleting)
            .ok_or_else(|| PlatformError::not_found("source", id))
    }
}
