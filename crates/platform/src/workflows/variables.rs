//! The variables of an owner as steps see them, opened once for many steps.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use headwater_model::time::EpochMs;
use headwater_store::{Owner, Variable};
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
    by_tenant: Mutex<HashMap<String, Arc<Tenant>>>,
}

/// The variables of a tenant.
struct Tenant {
    /// Of the one who reads them, while all others wait for what is read.
    turn: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

/// The knowledge of a tenant's variables.
struct Known {
    /// The last that were read. Their masks are good as long as the values are the same.
    opened: Option<Arc<Opened>>,
    read_at_ms: EpochMs,
    /// Whether they have changed since.
    is_stale: bool,
    /// How often this node has changed them.
    changes: u64,
}

impl Tenant {
    fn unknown(now_ms: EpochMs) -> Self {
        Self {
            turn: tokio::sync::Mutex::default(),
            known: Mutex::new(Known {
                opened: None,
                read_at_ms: now_ms,
                is_stale: true,
                changes: 0,
            }),
        }
    }

    /// Those that were read a moment ago.
    fn fresh(&self, now_ms: EpochMs) -> Option<Arc<Opened>> {
        let known = self.known.lock();
        let is_fresh = !known.is_stale && now_ms.since(known.read_at_ms) < REMEMBERED;
        known.opened.clone().filter(|_| is_fresh)
    }

    /// Whether somebody uses it, or did lately.
    fn is_used(self: &Arc<Self>, now_ms: EpochMs) -> bool {
        Arc::strong_count(self) > 1 || now_ms.since(self.known.lock().read_at_ms) < KEPT
    }
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

    /// The variables of an owner, read anew if that was too long ago. Of many who ask at once, one reads.
    async fn read(&self, owner: &Owner) -> Result<Arc<Opened>, PlatformError> {
        let env = &self.core.env;
        let tenant = self.tenant(owner.tenant(), env.now_ms());
        if let Some(fresh) = tenant.fresh(env.now_ms()) {
            return Ok(fresh);
        }
        let _turn = tenant.turn.lock().await;
        if let Some(fresh) = tenant.fresh(env.now_ms()) {
            return Ok(fresh);
        }
        let (former, changes) = {
            let known = tenant.known.lock();
            (known.opened.clone(), known.changes)
        };
        let variables = self.core.store.variables(owner.tenant()).await?;
        let read_at_ms = env.now_ms();
        let opened = self.opened(owner.tenant(), variables, former).await?;
        let mut known = tenant.known.lock();
        known.opened = Some(Arc::clone(&opened));
        known.read_at_ms = read_at_ms;
        // Those that were changed meanwhile may have been read before.
        known.is_stale = known.changes != changes;
        Ok(opened)
    }

    fn tenant(&self, tenant: &str, now_ms: EpochMs) -> Arc<Tenant> {
        let mut by_tenant = self.by_tenant.lock();
        if let Some(known) = by_tenant.get(tenant) {
            return Arc::clone(known);
        }
        by_tenant.retain(|_, tenant| tenant.is_used(now_ms));
        let unknown = Arc::new(Tenant::unknown(now_ms));
        by_tenant.insert(tenant.to_owned(), Arc::clone(&unknown));
        unknown
    }

    /// Opens variables. Of the same values, the masks are those from before: to build them takes time.
    async fn opened(
        &self,
        tenant: &str,
        variables: Vec<Variable>,
        former: Option<Arc<Opened>>,
    ) -> Result<Arc<Opened>, PlatformError> {
        let mut values = BTreeMap::new();
        let mut hash = Sha256::new();
        let mut unopened = None;
        for variable in variables {
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
            None => {
                let aside = &self.core.aside;
                Arc::new(Masks::built(aside, &self.mark_key, tenant, &values).await?)
            }
        };
        Ok(Arc::new(Opened {
            masks,
            fingerprint,
            unopened,
            values,
        }))
    }

    /// Lets the next step read a tenant's variables anew.
    pub(crate) fn forget(&self, tenant: &str) {
        if let Some(tenant) = self.by_tenant.lock().get(tenant) {
            let mut known = tenant.known.lock();
            known.is_stale = true;
            known.changes += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use headwater_model::id::UserId;

    use super::*;
    use crate::{
        secrets::KeyRing,
        signing_key::SigningKey,
        testing::{HandClock, NoEngine, T0, config, core, memory},
    };

    /// Variables of one owner, and means to set them.
    struct Bench {
        clock: Arc<HandClock>,
        core: Arc<Core>,
        keys: Arc<SecretKeys>,
        variables: OpenedVariables,
        owner: Owner,
    }

    impl Bench {
        async fn new() -> Self {
            let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
            let core = core(memory(), Arc::new(NoEngine), config(), Arc::clone(&clock)).await;
            let keys = Arc::new(SecretKeys::new(KeyRing::first([7; 32]), None));
            let mark_key = Arc::new(WaitKey(SigningKey([7; 64])));
            let owner = Owner {
                user_id: core.env.id(UserId::new),
                workspace_id: None,
            };
            Self {
                variables: OpenedVariables::new(Arc::clone(&core), Arc::clone(&keys), mark_key),
                clock,
                core,
                keys,
                owner,
            }
        }

        async fn set(&self, name: &str, value: &str) {
            let tenant = self.owner.tenant();
            let purpose = variable_purpose(tenant, name);
            let sealed = self.keys.seal(&self.core.env, &purpose, value.as_bytes());
            let variable = Variable {
                name: name.to_owned(),
                value: sealed.unwrap(),
                updated_at: self.core.env.now_at(),
            };
            let set = self.core.store.set_variable(tenant, variable);
            set.await.unwrap();
        }

        /// So many values that their masks are built beside the tasks.
        async fn set_many(&self) {
            for number in 0..300 {
                let value = format!("{number:01024}");
                self.set(&format!("V{number}"), &value).await;
            }
        }

        async fn masks(&self) -> Arc<Masks> {
            self.variables.masks_of(&self.owner).await.unwrap()
        }

        async fn later(&self) -> Arc<Masks> {
            self.clock.0.fetch_add(2_000, Ordering::SeqCst);
            self.masks().await
        }
    }

    #[tokio::test]
    async fn masks_are_built_anew_when_a_value_changes_and_stay_otherwise() {
        let bench = Bench::new().await;
        bench.set("TOKEN", "hunter2-hunter2").await;
        let first = bench.later().await;
        assert!(Arc::ptr_eq(&first, &bench.later().await));
        // As another node changes it, and the same value sealed anew.
        bench.set("TOKEN", "hunter2-hunter2").await;
        assert!(Arc::ptr_eq(&first, &bench.later().await));
        // As this node does.
        bench.set("TOKEN", "hunter2-hunter2").await;
        bench.variables.forget(bench.owner.tenant());
        assert!(Arc::ptr_eq(&first, &bench.masks().await));
        bench.set("TOKEN", "hunter3-hunter3").await;
        let second = bench.later().await;
        assert!(!second.text("hunter3-hunter3").contains("hunter3"));
    }

    #[tokio::test]
    async fn of_many_who_ask_at_once_one_builds_the_masks() {
        let bench = Bench::new().await;
        bench.set_many().await;
        let all = futures::future::join_all((0..10).map(|_| bench.masks())).await;
        assert!(all.iter().all(|masks| Arc::ptr_eq(masks, &all[0])));
    }

    #[tokio::test]
    async fn a_change_while_they_are_read_is_seen_by_the_next_one() {
        let bench = Bench::new().await;
        bench.set_many().await;
        let mut reading = std::pin::pin!(bench.masks());
        assert!(futures::poll!(&mut reading).is_pending());
        bench.set("TOKEN", "hunter2-hunter2").await;
        bench.variables.forget(bench.owner.tenant());
        reading.await;
        let next = bench.masks().await;
        assert!(!next.text("hunter2-hunter2").contains("hunter2"));
    }
}
