//! API keys: making, listing and revoking them, and when they were last used. A key is shown once;
//! what is kept is its hash.

use std::collections::HashMap;

use headwater_model::{
    id::{KeyId, UserId},
    limits::PAGE_LIMIT_MAX,
    page::{Page, PageRequest, Position},
};
use headwater_store::{ApiKey, Store, StoreError};
use parking_lot::Mutex;

use crate::{
    access::{Caller, key_hash},
    environment::Environment,
    error::PlatformError,
    platform::Platform,
};

/// What a key's name may be long.
const NAME_MAX: usize = 100;
/// A key's use is written at most this often.
const NOTED_EVERY_S: u64 = 60;

/// A key that has just been made.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What is kept of it.
    pub key: ApiKey,
    /// The key itself; nobody sees it again.
    pub secret: String,
}

/// A new key.
pub(crate) fn generate(env: &Environment) -> String {
    format!("hw_{}", env.token())
}

/// Uses of keys that are not written yet. Background work writes them together, so that a request
/// does not wait for it; there is at most one per key.
#[derive(Default)]
pub(crate) struct KeyUses {
    unwritten: Mutex<HashMap<KeyId, u64>>,
}

impl KeyUses {
    /// Notes that the key, as it was just read, is used now.
    pub(crate) fn note(&self, key: &ApiKey, now_at: u64) {
        let is_due = |used_at| now_at.abs_diff(used_at) >= NOTED_EVERY_S;
        if key.last_used_at.is_none_or(is_due) {
            self.unwritten.lock().insert(key.id.clone(), now_at);
        }
    }

    fn take(&self) -> Vec<(KeyId, u64)> {
        self.unwritten.lock().drain().collect()
    }
}

impl Caller {
    /// Checks that the caller may do this for the user: itself, or any as an administrator.
    fn check_acts_for(&self, user_id: &UserId) -> Result<(), PlatformError> {
        match user_id == self.user_id() {
            true => Ok(()),
            false => self.check_admin(),
        }
    }
}

/// Makes a key for the administrator of a node that does not run, for an operator who has none left.
///
/// # Errors
/// `Conflict` when nobody has been made the administrator yet.
pub async fn create_admin_key(
    store: &dyn Store,
    env: &Environment,
    name: &str,
) -> Result<NewKey, PlatformError> {
    let mut page = PageRequest::first(PAGE_LIMIT_MAX);
    loop {
        let users = store.users(&page).await?.items;
        let Some(last) = users.last().map(|user| user.id.clone()) else {
            let reason = "the node has no administrator yet; its first start makes one";
            return Err(PlatformError::Conflict(reason.to_owned()));
        };
        if let Some(admin) = users.into_iter().find(|user| user.is_admin) {
            return create(store, env, admin.id, name).await;
        }
        page.position = Position::After(last);
    }
}

async fn create(
    store: &dyn Store,
    env: &Environment,
    user_id: UserId,
    name: &str,
) -> Result<NewKey, PlatformError> {
    let secret = generate(env);
    let key = ApiKey {
        id: env.id(KeyId::new),
        user_id,
        name: name.to_owned(),
        hash: key_hash(&secret),
        created_at: env.now_at(),
        last_used_at: None,
    };
    store.create_key(key.clone()).await?;
    Ok(NewKey { key, secret })
}

impl Platform {
    /// Makes a key for the caller, or for the user that an administrator names.
    ///
    /// # Errors
    /// `Invalid` without a name; `AdminOnly` for another user, `NotFound` for one that is not there.
    pub async fn create_key(
        &self,
        caller: &Caller,
        name: &str,
        user_id: Option<UserId>,
    ) -> Result<NewKey, PlatformError> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > NAME_MAX {
            let reason = format!("say in 1 to {NAME_MAX} characters what the key is for");
            return Err(PlatformError::invalid("name", reason));
        }
        let user_id = self.acted_for(caller, user_id).await?;
        create(&*self.store, &self.env, user_id, name).await
    }

    /// The keys of the caller, or of the user that an administrator names, in creation order.
    ///
    /// # Errors
    /// `AdminOnly` for another user, `NotFound` for one that is not there.
    pub async fn keys(
        &self,
        caller: &Caller,
        user_id: Option<UserId>,
        page: &PageRequest<KeyId>,
    ) -> Result<Page<ApiKey>, PlatformError> {
        let user_id = self.acted_for(caller, user_id).await?;
        self.write_key_uses().await?;
        Ok(self.store.keys(&user_id, page).await?)
    }

    /// Revokes a key: it opens nothing from now on.
    ///
    /// # Errors
    /// `NotFound` for a key of another user, unless the caller is an administrator; `Conflict` when it is
    /// the caller's last key, by which it is calling.
    pub async fn revoke_key(&self, caller: &Caller, id: &KeyId) -> Result<(), PlatformError> {
        let gone = || PlatformError::not_found("key", id);
        let key = self.store.key(id).await?.ok_or_else(gone)?;
        caller.check_acts_for(&key.user_id).map_err(|_| gone())?;
        match self.store.delete_key(id, &caller.identity.key.id).await? {
            true => {
                self.feeds.turn_away(|key| key.id == *id);
                Ok(())
            }
            false => Err(gone()),
        }
    }

    /// Writes when keys were last used.
    pub(crate) async fn write_key_uses(&self) -> Result<(), StoreError> {
        let uses = self.key_uses.take();
        match uses.is_empty() {
            true => Ok(()),
            false => self.store.note_key_uses(uses).await,
        }
    }

    async fn acted_for(
        &self,
        caller: &Caller,
        user_id: Option<UserId>,
    ) -> Result<UserId, PlatformError> {
        let Some(user_id) = user_id else {
            return Ok(caller.user_id().clone());
        };
        caller.check_acts_for(&user_id)?;
        match self.store.user(&user_id).await? {
            Some(user) => Ok(user.id),
            None => Err(PlatformError::not_found("user", user_id)),
        }
    }
}
