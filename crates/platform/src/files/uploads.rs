//! Uploads of steps: files in the making that are continued by their names.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headwater_model::time::EpochMs;
use parking_lot::Mutex;

use super::{draft::Draft, fault::Fault};

/// Uploads of one tenant at once: each holds a file of the node open.
const UPLOADS_MAX: usize = 256;

/// A file in the making; `None` once it is committed.
pub(super) type Upload = Arc<tokio::sync::Mutex<Option<Draft>>>;

/// The uploads of all tenants.
#[derive(Default)]
pub(super) struct Uploads {
    by_name: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    tenant: String,
    upload: Upload,
    used_at_ms: EpochMs,
}

impl Uploads {
    /// Adds an upload under a new name that nobody guesses.
    pub(super) fn add(
        &self,
        name: String,
        tenant: &str,
        draft: Draft,
        now_ms: EpochMs,
    ) -> Result<(), Fault> {
        let mut by_name = self.by_name.lock();
        let theirs = by_name.values().filter(|entry| entry.tenant == tenant);
        if theirs.count() >= UPLOADS_MAX {
            return Err(Fault::Refused(format!(
                "{UPLOADS_MAX} files are being written already, which is the limit; end some first"
            )));
        }
        let entry = Entry {
            tenant: tenant.to_owned(),
            upload: Arc::new(tokio::sync::Mutex::new(Some(draft))),
            used_at_ms: now_ms,
        };
        by_name.insert(name, entry);
        Ok(())
    }

    /// An upload of the tenant to continue.
    pub(super) fn get(&self, name: &str, tenant: &str, now_ms: EpochMs) -> Result<Upload, Fault> {
        let mut by_name = self.by_name.lock();
        let entry = by_name.get_mut(name).filter(|entry| entry.tenant == tenant);
        let entry = entry.ok_or_else(gone)?;
        entry.used_at_ms = now_ms;
        Ok(Arc::clone(&entry.upload))
    }

    /// Takes an upload of the tenant out.
    pub(super) fn remove(&self, name: &str, tenant: &str) -> Option<Upload> {
        let mut by_name = self.by_name.lock();
        by_name.get(name).filter(|entry| entry.tenant == tenant)?;
        by_name.remove(name).map(|entry| entry.upload)
    }

    /// Gives up those that nobody has continued for so long, and returns their number.
    pub(super) fn give_up(&self, now_ms: EpochMs, idle: Duration) -> u64 {
        let mut by_name = self.by_name.lock();
        let before = by_name.len();
        by_name.retain(|_, entry| now_ms < entry.used_at_ms + idle);
        (before - by_name.len()) as u64
    }

    /// Gives up those of a tenant.
    pub(super) fn forget(&self, tenant: &str) {
        self.by_name
            .lock()
            .retain(|_, entry| entry.tenant != tenant);
    }
}

/// The answer about an upload that is not there.
pub(super) fn gone() -> Fault {
    let reason = "the upload has ended, or was given up because nothing came for an hour; write the file again";
    Fault::Refused(reason.to_owned())
}
