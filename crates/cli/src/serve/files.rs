//! The files of owners in a folder of the node: one folder per tenant, and in it one file per file, named by a hash, so
//! that no path of a user is ever a path of the machine.
//!
//! A stored file is the content with its description behind it ([`trailer`]), so that a commit is one renaming: there is
//! never a content without its description, or the other way round. What is known of a tenant's files is read from the
//! descriptions when the tenant is first asked for ([`index`]).
//!
//! ```text
//! files/uploads/17                           in the making; emptied at each start
//! files/tenants/u_1/kept/5891b5b522d5…       stays
//! files/tenants/u_1/expiring/1700…-0d3a7c…   is deleted at that time, in epoch milliseconds
//! ```
//!
//! Not responsible for limits, nor for who may read a file.

mod content;
mod disk;
mod index;
mod place;
mod trailer;
mod writer;

use std::{
    collections::HashMap,
    fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use headwater_model::time::EpochMs;
use headwater_store::{
    FileContent, FilePath, FileStorage, FileUsage, FileWriter, FolderEntry, FolderRange,
};
use parking_lot::Mutex;

use self::{
    content::OpenFile,
    disk::{names, on_disk},
    index::Tenant,
    writer::Writing,
};

/// The folder of all files.
pub(crate) struct FolderOfFiles {
    root: PathBuf,
    tenants: Mutex<HashMap<String, Arc<Tenant>>>,
    uploads: AtomicU64,
}

impl FolderOfFiles {
    /// Opens the folder, created if it is missing. Nothing is left of files that a former node was writing.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        let uploads = root.join("uploads");
        match fs::remove_dir_all(&uploads) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(&uploads)?,
        }
        fs::create_dir_all(root.join("tenants"))?;
        Ok(Self {
            root,
            tenants: Mutex::default(),
            uploads: AtomicU64::new(0),
        })
    }

    fn tenant(&self, id: &str) -> io::Result<Arc<Tenant>> {
        // Ids come from the platform; a token's signature must not be all that keeps a path out.
        if id.is_empty()
            || !id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            let reason = format!("`{id}` is not the id of a tenant");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let mut tenants = self.tenants.lock();
        let new = || Arc::new(Tenant::new(self.root.join("tenants").join(id)));
        Ok(Arc::clone(tenants.entry(id.to_owned()).or_insert_with(new)))
    }
}

#[async_trait]
impl FileStorage for FolderOfFiles {
    async fn open(
        &self,
        tenant: &str,
        path: &FilePath,
    ) -> io::Result<Option<Box<dyn FileContent>>> {
        let (tenant, path) = (self.tenant(tenant)?, path.clone());
        on_disk(move || {
            let file = tenant.open(&path)?;
            let opened = file.map(OpenFile::read_from).transpose()?;
            Ok(opened.map(|opened| Box::new(opened) as Box<dyn FileContent>))
        })
        .await
    }

    async fn list(&self, tenant: &str, range: FolderRange) -> io::Result<Vec<FolderEntry>> {
        let tenant = self.tenant(tenant)?;
        on_disk(move || tenant.list(&range)).await
    }

    async fn usage(&self, tenant: &str) -> io::Result<FileUsage> {
        let tenant = self.tenant(tenant)?;
        if let Some(usage) = tenant.known_usage() {
            return Ok(usage);
        }
        on_disk(move || tenant.usage()).await
    }

    async fn begin(&self, tenant: &str) -> io::Result<Box<dyn FileWriter>> {
        let tenant = self.tenant(tenant)?;
        let number = self.uploads.fetch_add(1, Ordering::Relaxed);
        let path = self.root.join("uploads").join(number.to_string());
        on_disk(move || Ok(Box::new(Writing::begin(path, tenant)?) as Box<dyn FileWriter>)).await
    }

    async fn delete(&self, tenant: &str, path: &FilePath) -> io::Result<bool> {
        let (tenant, path) = (self.tenant(tenant)?, path.clone());
        on_disk(move || tenant.delete(&path)).await
    }

    async fn delete_all(&self, tenant: &str) -> io::Result<()> {
        let tenant = self.tenant(tenant)?;
        on_disk(move || tenant.delete_all()).await
    }

    async fn delete_expired(&self, now_ms: EpochMs) -> io::Result<u64> {
        let root = self.root.join("tenants");
        let ids = on_disk(move || names(&root)).await?;
        let mut deleted = 0;
        for id in ids {
            let tenant = self.tenant(&id)?;
            deleted += on_disk(move || tenant.delete_expired(now_ms)).await?;
        }
        Ok(deleted)
    }

    async fn tenants(&self) -> io::Result<Vec<String>> {
        let root = self.root.join("tenants");
        let mut ids = on_disk(move || names(&root)).await?;
        ids.sort_unstable();
        let mut with_files = Vec::new();
        for id in ids {
            if self.usage(&id).await?.files > 0 {
                with_files.push(id);
            }
        }
        Ok(with_files)
    }
}

#[cfg(test)]
mod tests;
