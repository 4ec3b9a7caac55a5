//! The place of the files of owners, which a node has in a folder or in its database. Apart from the store: no step of it
//! writes a file and a row together.

use std::io;

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::time::EpochMs;

use crate::FilePath;

/// Keeps the files of tenants.
#[async_trait]
pub trait FileStorage: Send + Sync + 'static {
    /// The file at a path, if there is one, to be read.
    ///
    /// # Errors
    /// The storage does not work.
    async fn open(&self, tenant: &str, path: &FilePath)
    -> io::Result<Option<Box<dyn FileContent>>>;

    /// Entries of a folder in their order, none for one that does not exist.
    ///
    /// # Errors
    /// The storage does not work.
    async fn list(&self, tenant: &str, range: FolderRange) -> io::Result<Vec<FolderEntry>>;

    /// The sum of a tenant's files.
    ///
    /// # Errors
    /// The storage does not work.
    async fn usage(&self, tenant: &str) -> io::Result<FileUsage>;

    /// Begins a file. It MUST NOT be seen before it is committed
    /// (`conformance::files::nobody_sees_a_file_before_its_commit`), and if it is dropped, or the node dies, nothing is left of it.
    ///
    /// # Errors
    /// The storage does not work.
    async fn begin(&self, tenant: &str) -> io::Result<Box<dyn FileWriter>>;

    /// Deletes a file, and returns whether it existed.
    ///
    /// # Errors
    /// The storage does not work.
    async fn delete(&self, tenant: &str, path: &FilePath) -> io::Result<bool>;

    /// Deletes all files of a tenant.
    ///
    /// # Errors
    /// The storage does not work.
    async fn delete_all(&self, tenant: &str) -> io::Result<()>;

    /// Deletes the files of all tenants that have expired, and returns their number. Clears away what nobody needs any more.
    ///
    /// # Errors
    /// The storage does not work.
    async fn delete_expired(&self, now_ms: EpochMs) -> io::Result<u64>;

    /// The ids of all tenants with files, in their order.
    ///
    /// # Errors
    /// The storage does not work.
    async fn tenants(&self) -> io::Result<Vec<String>>;
}

/// The content of a file as it was when it was opened, even if the file is replaced or deleted meanwhile. Where others than
/// its reader clear away, only for some minutes then; afterwards reading fails.
#[async_trait]
pub trait FileContent: Send + Sync + 'static {
    /// The file.
    fn file(&self) -> &StoredFile;

    /// Bytes from there on: as many as asked for, or all up to the end.
    ///
    /// # Errors
    /// The storage does not work.
    async fn read(&self, offset: u64, length: usize) -> io::Result<Bytes>;
}

/// A file that is being written.
#[async_trait]
pub trait FileWriter: Send + 'static {
    /// Appends bytes.
    ///
    /// # Errors
    /// The storage does not work, and the file cannot be continued.
    async fn write(&mut self, bytes: Bytes) -> io::Result<()>;

    /// Puts it at its path, in place of a file that was there, in one step. Its tenant's files MUST NOT be more than `most`
    /// then, whoever else writes at the same time (`conformance::files::a_bound_holds_however_many_write_at_once`):
    /// otherwise nothing changes. Returns whether it is there. Durable when this returns.
    ///
    /// # Errors
    /// The storage does not work.
    async fn commit(self: Box<Self>, file: StoredFile, most: FileUsage) -> io::Result<bool>;
}

/// A file without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// The place of the file.
    pub path: FilePath,
    /// The bytes of its content.
    pub size: u64,
    /// The time at which it was written.
    pub modified_at_ms: EpochMs,
    /// SHA-256 of its content, in hexadecimal.
    pub hash: String,
    /// The time at which it is deleted, if ever.
    pub expires_at_ms: Option<EpochMs>,
}

/// Entries of a folder to list.
#[derive(Debug, Clone)]
pub struct FolderRange {
    /// The folder; `None` is the root.
    pub folder: Option<FilePath>,
    /// Only entries after this one, by its key.
    pub after: Option<String>,
    /// Entries at most.
    pub limit: usize,
}

impl FolderRange {
    /// The text with which the paths of everything in the folder begin.
    pub fn prefix(&self) -> String {
        let folder = self.folder.as_ref();
        folder.map_or_else(String::new, |path| format!("{path}/"))
    }
}

/// An entry of a folder. There may be a file and a folder of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderEntry {
    /// A file directly in it.
    File {
        /// Its path.
        path: String,
        /// The bytes of its content.
        size: u64,
        /// The time at which it was written.
        modified_at_ms: EpochMs,
    },
    /// A folder directly in it, which exists because there are files in it.
    Folder {
        /// Its path.
        path: String,
    },
}

impl FolderEntry {
    /// The text by which entries are ordered: the path, with a slash behind that of a folder.
    pub fn key(&self) -> String {
        match self {
            Self::File { path, .. } => path.clone(),
            Self::Folder { path } => format!("{path}/"),
        }
    }
}

/// The sum of a tenant's files, or a bound of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileUsage {
    /// Their number.
    pub files: u64,
    /// The bytes of their contents.
    pub bytes: u64,
}

impl FileUsage {
    /// The sum with a file in place of another of that size, if there was one.
    #[must_use]
    pub fn with(self, size: u64, replaced: Option<u64>) -> Self {
        Self {
            files: self.files + u64::from(replaced.is_none()),
            bytes: (self.bytes + size).saturating_sub(replaced.unwrap_or(0)),
        }
    }

    /// Whether neither is more.
    pub fn fits(self, most: Self) -> bool {
        self.files <= most.files && self.bytes <= most.bytes
    }
}
