//! A new secret key, and everything that is stored sealed anew with it.
//!
//! The new key is kept beside the former one before anything is sealed with it. A reader of a value
//! before still has it under the former key, and may write it back after everything was sealed anew;
//! therefore former keys open until the node's next start, which looks once more, before anybody can
//! have read anything, and drops them.

use headwater_model::prop::ConfiguredProps;
use headwater_store::{Resealed, Sealed, SealedRecord, Store};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    couriers::signature::purpose,
    error::PlatformError,
    platform::Platform,
    secrets::{KeyRing, sealed_bytes, variable_purpose},
    signing_key::INSTALLATION,
};

/// Records per step.
const BATCH: u32 = 500;

/// The result of a rotation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotation {
    /// Accounts, webhooks, sources and their deployments whose secrets are now encrypted with the new key.
    pub resealed: u64,
    /// Those that no key opens: their secrets were lost before.
    pub unreadable: u64,
}

impl Platform {
    /// Creates a new secret key and seals everything with it. The former one opens values under way
    /// until the next start.
    ///
    /// # Errors
    /// `AdminOnly`; `Conflict` when the key is given to the node, which then cannot change it.
    pub async fn rotate_secret_key(&self, caller: &Caller) -> Result<Rotation, PlatformError> {
        caller.check_admin()?;
        let _one_at_a_time = self.secret_keys.rotation.lock().await;
        self.secret_keys.renew(&self.core.env).await?;
        let done = self.reseal_everything().await?;
        let act = Act::new(AuditAction::NodeRotateSecretKey, "node", "node");
        let act = act
            .with("resealed", done.resealed)
            .with("unreadable", done.unreadable);
        self.record(caller, act).await;
        Ok(done)
    }

    /// Ends a rotation of a former start: values still sealed with a former key are sealed anew, and
    /// the former keys are dropped. Nothing may have been read yet.
    pub(crate) async fn end_rotation(&self) -> Result<(), PlatformError> {
        if !self.secret_keys.ring().has_former() {
            return self.check_key().await;
        }
        let done = self.reseal_everything().await?;
        let left = self.reseal_everything().await?;
        if left.resealed > 0 {
            tracing::error!(
                records = left.resealed,
                "cannot encrypt secrets with the new secret key; the former keys are kept"
            );
            return Ok(());
        }
        tracing::info!(
            resealed = done.resealed,
            unreadable = done.unreadable,
            "all secrets use the new secret key"
        );
        self.secret_keys.forget_former().await
    }

    /// Warns at the start if the key differs from that of the stored values. One record tells of all.
    async fn check_key(&self) -> Result<(), PlatformError> {
        let Some(record) = first_sealed(&*self.core.store).await? else {
            return Ok(());
        };
        if let Err(error) = opened(&self.secret_keys.ring(), &record) {
            self.secret_keys.note_unfit();
            tracing::error!(
                record = name(&record), %error,
                "stored accounts, webhooks and secret props are encrypted with another secret key; \
                 restore that key and restart, or enter the secrets again"
            );
        }
        Ok(())
    }

    async fn reseal_everything(&self) -> Result<Rotation, PlatformError> {
        let ring = self.secret_keys.ring();
        let mut done = Rotation::default();
        let mut last: Option<SealedRecord> = None;
        loop {
            let page = self.core.store.sealed_records(last.as_ref(), BATCH).await?;
            let Some(end) = page.last().cloned() else {
                return Ok(done);
            };
            let mut changes = Vec::new();
            for former in page {
                match self.resealed(&ring, &former) {
                    Ok(record) if record == former => {}
                    Ok(record) => changes.push(Resealed { former, record }),
                    Err(error) => {
                        done.unreadable += u64::from(is_entered(&former));
                        tracing::warn!(record = name(&former), %error, "a secret is lost");
                    }
                }
            }
            let counted = changes.iter().filter(|change| is_entered(&change.former));
            done.resealed += counted.count() as u64;
            if !changes.is_empty() {
                self.core.store.reseal(changes).await?;
            }
            last = Some(end);
        }
    }

    /// The record with whatever is sealed with a former key sealed with the newest.
    fn resealed(
        &self,
        ring: &KeyRing,
        record: &SealedRecord,
    ) -> Result<SealedRecord, PlatformError> {
        let anew = |purpose: &str, sealed: &Sealed| match ring.is_newest(sealed) {
            true => Ok(sealed.clone()),
            false => ring.seal(&self.core.env, purpose, &ring.open(purpose, sealed)?),
        };
        Ok(match record {
            SealedRecord::Account { id, sealed } => SealedRecord::Account {
                sealed: anew(id.as_str(), sealed)?,
                id: id.clone(),
            },
            SealedRecord::Webhook {
                id,
                secret,
                former_secret,
            } => {
                let anew = |sealed: &Sealed| anew(&purpose(id), sealed);
                SealedRecord::Webhook {
                    secret: anew(secret)?,
                    former_secret: former_secret.as_ref().map(anew).transpose()?,
                    id: id.clone(),
                }
            }
            SealedRecord::Source {
                id,
                configured_props,
            } => SealedRecord::Source {
                id: id.clone(),
                configured_props: self.resealed_props(ring, configured_props)?,
            },
            SealedRecord::SourceDeployment {
                id,
                configured_props,
            } => SealedRecord::SourceDeployment {
                id: id.clone(),
                configured_props: self.resealed_props(ring, configured_props)?,
            },
            SealedRecord::Variable {
                tenant,
                name,
                value,
            } => SealedRecord::Variable {
                value: anew(&variable_purpose(tenant, name), value)?,
                tenant: tenant.clone(),
                name: name.clone(),
            },
        })
    }

    fn resealed_props(
        &self,
        ring: &KeyRing,
        props: &ConfiguredProps,
    ) -> Result<ConfiguredProps, PlatformError> {
        let mut props = props.clone();
        for (name, value) in &mut props {
            if sealed_bytes(value).is_some_and(|sealed| !ring.is_newest(&sealed)) {
                *value = ring.seal_prop(&self.core.env, name, &ring.open_prop(name, value)?)?;
            }
        }
        Ok(props)
    }
}

/// Whether the store holds anything that only a secret key opens.
///
/// # Errors
/// The store does not answer.
pub async fn holds_secrets(store: &dyn Store) -> Result<bool, PlatformError> {
    Ok(first_sealed(store).await?.is_some())
}

/// The first record in which something is sealed.
async fn first_sealed(store: &dyn Store) -> Result<Option<SealedRecord>, PlatformError> {
    let mut last: Option<SealedRecord> = None;
    loop {
        let page = store.sealed_records(last.as_ref(), BATCH).await?;
        let Some(end) = page.last().cloned() else {
            return Ok(None);
        };
        if let Some(found) = page.into_iter().find(is_sealed) {
            return Ok(Some(found));
        }
        last = Some(end);
    }
}

/// Whether a record has sealed values that somebody entered: those are counted.
fn is_entered(record: &SealedRecord) -> bool {
    let is_own = matches!(record, SealedRecord::Variable { tenant, .. } if tenant == INSTALLATION);
    !is_own && is_sealed(record)
}

/// Whether a record has sealed values; sources need not. Every node that has started has some: the key that it signs URLs with.
fn is_sealed(record: &SealedRecord) -> bool {
    match record {
        SealedRecord::Account { .. }
        | SealedRecord::Webhook { .. }
        | SealedRecord::Variable { .. } => true,
        SealedRecord::Source {
            configured_props, ..
        }
        | SealedRecord::SourceDeployment {
            configured_props, ..
        } => {
            let mut values = configured_props.values();
            values.any(|value| sealed_bytes(value).is_some())
        }
    }
}

/// Whether the keys open the sealed values of a record.
fn opened(ring: &KeyRing, record: &SealedRecord) -> Result<(), PlatformError> {
    match record {
        SealedRecord::Account { id, sealed } => ring.open(id.as_str(), sealed).map(drop),
        SealedRecord::Webhook { id, secret, .. } => ring.open(&purpose(id), secret).map(drop),
        SealedRecord::Source {
            configured_props, ..
        }
        | SealedRecord::SourceDeployment {
            configured_props, ..
        } => {
            let mut values = configured_props.iter();
            values.try_for_each(|(name, value)| ring.open_prop(name, value).map(drop))
        }
        SealedRecord::Variable {
            tenant,
            name,
            value,
        } => ring.open(&variable_purpose(tenant, name), value).map(drop),
    }
}

fn name(record: &SealedRecord) -> &str {
    match record {
        SealedRecord::Account { id, .. } => id.as_str(),
        SealedRecord::Webhook { id, .. } => id.as_str(),
        SealedRecord::Source { id, .. } => id.as_str(),
        SealedRecord::SourceDeployment { id, .. } => id.as_str(),
        SealedRecord::Variable { name, .. } => name,
    }
}
