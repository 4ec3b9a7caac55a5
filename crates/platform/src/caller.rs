//! An authenticated caller, and its access. Another tenant's things do not exist for the caller.

use std::net::IpAddr;

use headwater_model::{
    hash::SecretHash,
    id::{KeyId, SessionId, UserId, WorkspaceId},
};
use headwater_store::{Identity, Owner, Viewer};
use sha2::{Digest, Sha256};

use crate::error::PlatformError;

/// An authenticated caller.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The user and its workspaces.
    pub identity: Identity,
    /// The way by which it came.
    pub via: Via,
    /// The place that its request came from.
    pub from: Remote,
}

/// The way by which a caller came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// With its key.
    Key,
    /// As a browser that is signed in.
    Session(SessionId),
    /// As the node itself, which acts for its administrator.
    Node,
}

/// The program at the other end of a request, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    /// Its address.
    pub address: Option<String>,
    /// The name that it gives itself.
    pub user_agent: String,
}

impl Remote {
    /// The program at an address, as its `User-Agent` names it.
    pub fn new(address: Option<IpAddr>, user_agent: Option<&[u8]>) -> Self {
        let user_agent = user_agent.map(String::from_utf8_lossy);
        Self {
            address: address.map(|address| address.to_string()),
            user_agent: user_agent.unwrap_or_default().into_owned(),
        }
    }
}

impl Caller {
    /// The holder of a key.
    pub fn with_key(identity: Identity) -> Self {
        Self {
            identity,
            via: Via::Key,
            from: Remote::default(),
        }
    }

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

    /// Checks that the caller is an administrator.
    ///
    /// # Errors
    /// `AdminOnly` when it may not.
    pub(crate) fn check_admin(&self) -> Result<(), PlatformError> {
        match self.identity.user.is_admin {
            true => Ok(()),
            false => Err(PlatformError::AdminOnly),
        }
    }

    /// Whether the caller may see this owner's things.
    pub fn may_see(&self, owner: &Owner) -> bool {
        owner.user_id == *self.user_id()
            || owner
                .workspace_id
                .as_ref()
                .is_some_and(|workspace_id| self.is_member(workspace_id))
    }

    /// The same for the store, which finds all that the caller may see.
    pub(crate) fn viewer(&self) -> Viewer {
        let workspaces = self.identity.workspaces.iter();
        Viewer {
            user_id: self.user_id().clone(),
            workspace_ids: workspaces.map(|workspace| workspace.id.clone()).collect(),
        }
    }
}

/// The hash under which a key is stored.
pub fn key_hash(key: &str) -> SecretHash {
    SecretHash::new(hex::encode(Sha256::digest(key.as_bytes())))
}
