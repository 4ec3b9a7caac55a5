//! Authentication, and the checks that a caller may see or use something.

use headwater_model::id::{SourceId, WorkspaceId};
use headwater_store::{Owner, Source, SourceState};

use crate::{
    caller::{Caller, key_hash},
    error::PlatformError,
    platform::Platform,
};

impl Platform {
    /// The holder of this API key.
    ///
    /// # Errors
    /// `Unauthenticated` when nobody has, `RateLimited` when it is used too often.
    pub async fn authenticate(&self, key: &str) -> Result<Caller, PlatformError> {
        // Never remembered: a key that is revoked, or a membership that ends, is so at once.
        let identity = self.core.store.identity(&key_hash(key)).await?;
        let identity = identity.ok_or(PlatformError::Unauthenticated)?;
        self.rate_limits
            .take(&identity.key.id, self.core.env.now_ms())?;
        self.key_uses.note(&identity.key, self.core.env.now_at());
        Ok(Caller::with_key(identity))
    }

    /// The owner of things that the caller creates or lists, in that workspace if one is given.
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
        match self.core.store.workspace(id).await? {
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
            .core
            .store
            .source(id)
            .await?
            .filter(|source| caller.may_see(&source.owner));
        source
            .filter(|source| source.state != SourceState::Deleting)
            .ok_or_else(|| PlatformError::not_found("source", id))
    }
}
