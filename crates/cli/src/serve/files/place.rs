//! The names of stored files in the folder of their tenant.

use std::path::{Path, PathBuf};

use headwater_model::time::EpochMs;
use headwater_store::FilePath;
use sha2::{Digest as _, Sha256};

pub(super) const KEPT: &str = "kept";
pub(super) const EXPIRING: &str = "expiring";

/// The place of a stored file. Its name says when it expires, so that a look for expired files opens none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    folder: &'static str,
    name: String,
}

impl Place {
    /// The place of the file at a path.
    pub(super) fn of(path: &FilePath, expires_at_ms: Option<EpochMs>) -> Self {
        let hash = hex::encode(Sha256::digest(path.as_str()));
        match expires_at_ms {
            None => Self {
                folder: KEPT,
                name: hash,
            },
            Some(end) => Self {
                folder: EXPIRING,
                name: format!("{}-{hash}", end.0),
            },
        }
    }

    /// The place with this name in one of the folders.
    pub(super) fn found(folder: &'static str, name: String) -> Self {
        Self { folder, name }
    }

    /// The time at which the file expires, if ever.
    pub(super) fn expires_at_ms(&self) -> Option<EpochMs> {
        let (end, _) = self.name.split_once('-')?;
        end.parse().ok().map(EpochMs)
    }

    pub(super) fn folder_in(&self, tenant: &Path) -> PathBuf {
        tenant.join(self.folder)
    }

    pub(super) fn path_in(&self, tenant: &Path) -> PathBuf {
        self.folder_in(tenant).join(&self.name)
    }
}
