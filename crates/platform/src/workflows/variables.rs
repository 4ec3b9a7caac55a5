//! The variables of an owner as steps see them, opened once for many steps.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use headwater_model::time::EpochMs;
use headwater_store::Owner;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::{masking::Masks, tokens::WaitKey};
use crate::{
    core::Core,
    error::PlatformError,
    secrets::{SecretKeys, variable_purpose},
};

/// Another node's change is seen after this.
const REMEMBERED: Duration = Duration::from_secs(1);
/// The masks of variables that have not changed are kept for so long after they were used: to build them takes time.
const KEPT: Duration = Duration::from_secs(60);

/// An owner's variables.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) values: BTreeMap<String, String>,
    /// Why one of them cannot be opened. The others have their masks in any case.
    unopened: Option<String>,
    pub(crate) masks: Arc<Masks>,
    /// Differs for other names or values.
    pub(crate) fingerprint: String,
}

/// Variables that were opened lately, by tenant.
pub(crate) struct OpenedVariables {
    core: Arc<Core>,
    secret_keys: Arc<SecretKeys>,
    /// Signs the marks of their values.
    mark_key: Arc<WaitKey>,
    by_tenant: Mutex<HashMap<String, (EpochMs, Arc<Opened>)>>,
}

impl OpenedVariables {
    pub(crate) fn new(
        core: Arc<Core>,
        secret_keys: Arc<SecretKeys>,
        mark_key: Arc<WaitKey>,
    ) -> Self {
        Self {
            core,
            secret_keys,
            mark_key,
            by_tenant: Mutex::default(),
        }
    }

    /// The variables of an owner, as steps of its workflows see them.
    ///
    /// # Errors
    /// The store cannot be read, or a variable cannot be opened.
    pub(crate) async fn of(&self, owner: &Owner) -> Result<Arc<Opened>, PlatformError> {
        let opened = self.read(owner).await?;
        match &opened.unopened {
            Some(reason) => Err(PlatformError::Internal(reason.clone())),
            None => Ok(opened),
        }
    }

    /// The masks of those that can be opened: what comes in is taken, and what is kept is shown, even if one of them was
    /// sealed with a key that is lost.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn masks_of(&self, owner: &Owner) -> Result<Arc<Masks>, PlatformError> {
        Ok(Arc::clone(&self.read(owner).await?.masks))
    }

    async fn read(&self, owner: &Owner) -> Result<Arc<Opened>, PlatformError> {
        let (tenant, now_ms) = (owner.tenant(), self.core.env.now_ms());
        let former = self.by_tenant.lock().get(tenant).cloned();
        if let Some((read_at_ms, opened)) = &former
            && now_ms.since(*read_at_ms) < REMEMBERED
        {
            return Ok(Arc::clone(opened));
        }
        let former = former.map(|(_, opened)| opened);
        let mut values = BTreeMap::new();
        let mut hash = Sha256::new();
        let mut unopened = None;
        for variable in self.core.store.variables(tenant).await? {
            let purpose = variable_purpose(tenant, &variable.name);
            let value = match self.secret_keys.open(&purpose, &variable.value) {
                Ok(value) => value,
                Err(error) => {
                    unopened = Some(format!("variable `{}`: {error}", variable.name));
                    continue;
                }
            };
            for part in [variable.name.as_bytes(), &value] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
            values.insert(variable.name, String::from_utf8_lossy(&value).into_owned());
        }
        let fingerprint = hex::encode(&hash.finalize()[..8]);
        let masks = match former.filter(|former| former.fingerprint == fingerprint) {
            Some(same) => Arc::clone(&same.masks),
            None => Arc::new(Masks::built(&self.mark_key, tenant, &values).await?),
        };
        let opened = Arc::new(Opened {
            masks,
            fingerprint,
            unopened,
            values,
        });
        let mut by_tenant = self.by_tenant.lock();
        by_tenant.retain(|_, (read_at_ms, _)| now_ms.since(*read_at_ms) < KEPT);
        by_tenant.insert(tenant.to_owned(), (now_ms, Arc::clone(&opened)));
        Ok(opened)
    }

    /// Lets the next step read a tenant's variables anew.
    pub(crate) fn forget(&self, tenant: &str) {
        self.by_tenant.lock().remove(tenant);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use headwater_model::id::UserId;
    use headwater_store::Variable;

    use super::*;
    use crate::{
        secrets::KeyRing,
        signing_key::SigningKey,
        testing::{HandClock, NoEngine, T0, config, core, memory},
    };

    #[tokio::test]
    async fn masks_are_built_anew_when_a_value_changes_and_stay_otherwise() {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let core = core(memory(), Arc::new(NoEngine), config(), Arc::clone(&clock)).await;
        let keys = Arc::new(SecretKeys::new(KeyRing::first([7; 32]), None));
        let mark_key = Arc::new(WaitKey(SigningKey([7; 64])));
        let variables = OpenedVariables::new(Arc::clone(&core), Arc::clone(&keys), mark_key);
        let owner = Owner {
            user_id: core.env.id(UserId::new),
            workspace_id: None,
        };
        let set = async |value: &str| {
            let purpose = variable_purpose(owner.tenant(), "TOKEN");
            let sealed = keys.seal(&core.env, &purpose, value.as_bytes());
            let variable = Variable {
                name: "TOKEN".to_owned(),
                value: sealed.unwrap(),
                updated_at: core.env.now_at(),
            };
            let set = core.store.set_variable(owner.tenant(), variable);
            set.await.unwrap();
        };
        let later = async || {
            clock.0.fetch_add(2_000, Ordering::SeqCst);
            variables.masks_of(&owner).await.unwrap()
        };
        set("hunter2-hunter2").await;
        let first = later().await;
        assert!(Arc::ptr_eq(&first, &later().await));
        // As another node changes it, and the same value sealed anew.
        set("hunter2-hunter2").await;
        assert!(Arc::ptr_eq(&first, &later().await));
        set("hunter3-hunter3").await;
        let second = later().await;
        assert!(!second.text("hunter3-hunter3").contains("hunter3"));
    }
}
