//! The administrator of a node, whom the node itself may act for: somebody who starts it may do anything with it.

use headwater_model::{limits::PAGE_LIMIT_MAX, page::PageRequest};
use headwater_store::{Store, User};

use crate::{
    caller::{Caller, Via},
    config::Setting,
    error::PlatformError,
    platform::Platform,
};

/// The first administrator.
///
/// # Errors
/// `Conflict` if there is none yet.
pub(crate) async fn administrator(store: &dyn Store) -> Result<User, PlatformError> {
    let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
    while let Some(page) = next {
        let users = store.users(&page).await?.items;
        next = page.behind(&users, |user| user.id.clone());
        if let Some(admin) = users.into_iter().find(|user| user.is_admin) {
            return Ok(admin);
        }
    }
    let reason = "the node has no administrator yet; its first start creates one";
    Err(PlatformError::Conflict(reason.to_owned()))
}

impl Platform {
    /// The options of the node, where they were set, and their values but for secrets.
    ///
    /// # Errors
    /// `AdminOnly`.
    pub fn settings(&self, caller: &Caller) -> Result<&[Setting], PlatformError> {
        caller.check_admin()?;
        Ok(&self.core.config.settings)
    }

    /// The administrator as a caller, with the workspaces of this moment, for what the node is started to do. It is not
    /// a use of a key.
    ///
    /// # Errors
    /// `Conflict` if there is no administrator, or none with a key.
    pub async fn administrator(&self) -> Result<Caller, PlatformError> {
        let store = &self.core.store;
        let user = administrator(&**store).await?;
        let keys = store.keys(&user.id, &PageRequest::first(1)).await?;
        let identity = match keys.items.first() {
            Some(key) => store.identity(&key.hash).await?,
            None => None,
        };
        let identity = identity.ok_or_else(|| {
            let reason = "the administrator has no API key; create one with `headwater keys reset`";
            PlatformError::Conflict(reason.to_owned())
        })?;
        Ok(Caller {
            via: Via::Node,
            ..Caller::with_key(identity)
        })
    }
}
