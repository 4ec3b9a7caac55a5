//! Files in the making: each in the folder of uploads until it is whole.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_store::{FileUsage, FileWriter, StoredFile};

use super::{
    disk::{on_disk, remove},
    index::Tenant,
    trailer,
};

pub(super) struct Writing {
    /// `None` once the file has its place.
    unfinished: Option<Unfinished>,
    file: Arc<File>,
    tenant: Arc<Tenant>,
}

/// The path of a file in the making, which is deleted with it.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.0) {
            let path = self.0.display();
            tracing::warn!(%path, %error, "half a file stays until the next start of the node");
        }
    }
}

impl Writing {
    pub(super) fn begin(path: PathBuf, tenant: Arc<Tenant>) -> io::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok(Self {
            unfinished: Some(Unfinished(path)),
            file: Arc::new(file),
            tenant,
        })
    }
}

#[async_trait]
impl FileWriter for Writing {
    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        let file = Arc::clone(&self.file);
        on_disk(move || (&*file).write_all(&bytes)).await
    }

    async fn commit(mut self: Box<Self>, stored: StoredFile, most: FileUsage) -> io::Result<bool> {
        on_disk(move || {
            let Some(unfinished) = self.unfinished.take() else {
                return Ok(true);
            };
            trailer::write(&mut &*self.file, &stored)?;
            self.file.sync_all()?;
            self.tenant.place(&unfinished.0, &stored, most)
        })
        .await
    }
}
