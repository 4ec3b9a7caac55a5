//! API keys: creating, listing and revoking them, and their last uses. A key is shown once; only its
//! hash is kept.

use headwater_model::{
    id::{KeyId, UserId},
    page::{Page, PageRequest},
};
use headwater_store::{ApiKey, Store};

use crate::{
    audit::{Act, AuditAction},
    caller::{Caller, key_hash},
    environment::Environment,
    error::PlatformError,
    platform::Platform,
    use_cases::administrator::administrator,
};

/// The maximum length of a key's name.
const NAME_MAX: usize = 100;

/// A key that has just been created.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The stored record of it.
    pub key: ApiKey,
    /// The key itself; nobody sees it again.
    pub secret: String,
}

/// A new key.
pub(crate) fn generate(env: &Environment) -> String {
    format!("hw_{}", env.token())
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
/// `Conflict` if there is no administrator yet.
pub async fn create_admin_key(
    store: &dyn Store,
    env: &Environment,
    name: &str,
) -> Result<NewKey, PlatformError> {
    let admin = administrator(store).await?;
    create(store, env, admin.id, name).await
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

fn on_key(action: AuditAction, key: &ApiKey) -> Act {
    let act = Act::new(action, "key", &key.id);
    act.of_user(&key.user_id).named(&key.name)
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
            let reason = format!("name the purpose of the key in 1 to {NAME_MAX} characters");
            return Err(PlatformError::invalid("name", reason));
        }
        let user_id = self.acted_for(caller, user_id).await?;
        let new = create(&*self.core.store, &self.core.env, user_id, name).await?;
        self.record(caller, on_key(AuditAction::KeyCreate, &new.key))
            .await;
        Ok(new)
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
        self.key_uses.write().await?;
        Ok(self.core.store.keys(&user_id, page).await?)
    }

    /// Revokes a key: it opens nothing from now on.
    ///
    /// # Errors
    /// `NotFound` for a key of another user, unless the caller is an administrator; `Conflict` when it is
    /// the caller's last key, by which it is calling.
    pub async fn revoke_key(&self, caller: &Caller, id: &KeyId) -> Result<(), PlatformError> {
        let gone = || PlatformError::not_found("key", id);
        let key = self.core.store.key(id).await?.ok_or_else(gone)?;
        caller.check_acts_for(&key.user_id).map_err(|_| gone())?;
        match self
            .core
            .store
            .delete_key(id, &caller.identity.key.id)
            .await?
        {
            true => {
                self.feeds.disconnect(|key| key.id == *id);
                self.record(caller, on_key(AuditAction::KeyRevoke, &key))
                    .await;
                Ok(())
            }
            false => Err(gone()),
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
        match self.core.store.user(&user_id).await? {
            Some(user) => Ok(user.id),
            None => Err(PlatformError::not_found("user", user_id)),
        }
    }
}
