//! The last use of API keys, written together so that no request waits for it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headwater_model::{id::KeyId, time::EpochSeconds};
use headwater_store::{ApiKey, StoreError};
use parking_lot::Mutex;

use crate::core::Core;

/// A key's use is written at most this often.
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// Uses of keys that are not written yet. Background work writes them together, so that a request
/// does not wait for it; there is at most one per key.
pub(crate) struct KeyUses {
    core: Arc<Core>,
    unwritten: Mutex<HashMap<KeyId, EpochSeconds>>,
}

impl KeyUses {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            unwritten: Mutex::default(),
        }
    }

    /// Notes that the key, as it was just read, is used now.
    pub(crate) fn note(&self, key: &ApiKey, now_at: EpochSeconds) {
        let is_due = |used_at| now_at.abs_diff(used_at) >= NOTED_EVERY;
        if key.last_used_at.is_none_or(is_due) {
            self.unwritten.lock().insert(key.id.clone(), now_at);
        }
    }

    fn take(&self) -> Vec<(KeyId, EpochSeconds)> {
        self.unwritten.lock().drain().collect()
    }

    /// Writes when keys were last used.
    pub(crate) async fn write(&self) -> Result<(), StoreError> {
        let uses = self.take();
        match uses.is_empty() {
            true => Ok(()),
            false => self.core.store.note_key_uses(uses).await,
        }
    }
}
