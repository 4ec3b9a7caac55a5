//! Who is calling, and what it may see. What another tenant owns does not exist for the caller.

use headwater_model::id::{SourceId, UserId, WorkspaceId};
use headwater_store::{Identity, Owner, Source, SourceState};
use sha2::{Digest, Sha256};

use crate::{app::App, error::AppError};

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

    /// Whether the caller is a member.
    pub fn is_member(&self, workspace_id: &WorkspaceId) -> bool {
        self.identity
            .workspaces
            .iter()
            .any(|workspace| workspace.id == *workspace_id)
    }

    /// Whether the caller may see what this owner has.
    pub fn may_see(&self, owner: &Owner) -> bool {
        owner.user_id == *self.user_id()
            || owner
                .workspace_id
                .as_ref()
                .is_some_and(|workspace_id| self.is_member(workspace_id))
    }

    /// The owner of what the caller creates, in that workspace if one is given.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member of it.
    pub fn owner(&self, workspace_id: Option<WorkspaceId>) -> Result<Owner, AppError> {
        match workspace_id {
            Some(id) if !self.is_member(&id) => Err(AppError::Forbidden(id.to_string())),
            workspace_id => Ok(Owner {
                user_id: self.user_id().clone(),
                workspace_id,
            }),
        }
    }
}

/// The hash under which a key is stored.
pub fn key_hash(key: &str) -> String {
    hex::encode(Sha256::digest(key.as_bytes()))
}

impl App {
    /// Whoever has this API key.
    ///
    /// # Errors
    /// `Unauthenticated` when nobody has.
    pub async fn authenticate(&self, key: &str) -> Result<Caller, AppError> {
        let identity = self.store.identity(&key_hash(key)).await?;
        identity
            .map(|identity| Caller { identity })
            .ok_or(AppError::Unauthenticated)
    }

    /// A source that the caller may see. A source whose deployment or deletion is under way is there.
    pub(crate) async fn visible_source(
        &self,
        caller: &Caller,
        id: &SourceId,
    ) -> Result<Source, AppError> {
        let source = self
            .store
            .source(id)
            .await?
            .filter(|source| caller.may_see(&source.owner));
        source
            .filter(|source| source.state != SourceState::Deleting)
            .ok_or_else(|| AppError::not_found("source", id))
    }
}
