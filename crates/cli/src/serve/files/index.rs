//! The files of one tenant: what their descriptions say, held in memory from the first question on.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    ops::Bound,
    path::{Path, PathBuf},
};

use headwater_model::time::EpochMs;
use headwater_store::{FilePath, FileUsage, FolderEntry, FolderRange, StoredFile};
use parking_lot::Mutex;

use super::{
    disk::{names, remove, sync_folder},
    place::{EXPIRING, KEPT, Place},
    trailer,
};

/// The folder of a tenant's files.
pub(super) struct Tenant {
    folder: PathBuf,
    /// `None` until somebody asks.
    files: Mutex<Option<Files>>,
}

/// Files by their paths.
#[derive(Default)]
struct Files {
    by_path: BTreeMap<String, Known>,
    bytes: u64,
}

struct Known {
    size: u64,
    modified_at_ms: EpochMs,
    place: Place,
}

impl Tenant {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            files: Mutex::new(None),
        }
    }

    /// Does something with the files, which are read before if nobody asked yet.
    fn with<T>(&self, work: impl FnOnce(&mut Files) -> io::Result<T>) -> io::Result<T> {
        let mut files = self.files.lock();
        let files = match &mut *files {
            Some(files) => files,
            unread => unread.insert(Files::read(&self.folder)?),
        };
        work(files)
    }

    /// The file at a path, opened.
    pub(super) fn open(&self, path: &FilePath) -> io::Result<Option<File>> {
        self.with(|files| {
            let known = files.by_path.get(path.as_str());
            known
                .map(|known| File::open(known.place.path_in(&self.folder)))
                .transpose()
        })
    }

    pub(super) fn list(&self, range: &FolderRange) -> io::Result<Vec<FolderEntry>> {
        self.with(|files| Ok(files.list(range)))
    }

    /// The sum of the files, unless they would have to be read for it.
    pub(super) fn known_usage(&self) -> Option<FileUsage> {
        self.files.try_lock()?.as_ref().map(Files::usage)
    }

    pub(super) fn usage(&self) -> io::Result<FileUsage> {
        self.with(|files| Ok(files.usage()))
    }

    /// Gives a finished file its place, instead of one that had its path, unless the files would be more than `most` then.
    pub(super) fn place(
        &self,
        finished: &Path,
        file: &StoredFile,
        most: FileUsage,
    ) -> io::Result<bool> {
        self.with(|files| {
            let replaced = files.by_path.get(file.path.as_str());
            let replaced = replaced.map(|replaced| replaced.size);
            if !files.usage().with(file.size, replaced).fits(most) {
                return Ok(false);
            }
            let place = Place::of(&file.path, file.expires_at_ms);
            let folder = place.folder_in(&self.folder);
            fs::create_dir_all(&folder)?;
            fs::rename(finished, place.path_in(&self.folder))?;
            sync_folder(&folder)?;
            let former = files.add(file, place.clone());
            if let Some(former) = former.filter(|former| *former != place) {
                remove(&former.path_in(&self.folder))?;
            }
            Ok(true)
        })
    }

    /// Deletes a file, and returns whether it existed.
    pub(super) fn delete(&self, path: &FilePath) -> io::Result<bool> {
        self.with(|files| {
            let Some(known) = files.by_path.get(path.as_str()) else {
                return Ok(false);
            };
            remove(&known.place.path_in(&self.folder))?;
            sync_folder(&known.place.folder_in(&self.folder))?;
            files.forget(path.as_str());
            Ok(true)
        })
    }

    pub(super) fn delete_all(&self) -> io::Result<()> {
        let mut files = self.files.lock();
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // Some are gone: what is left is read again when somebody asks.
                *files = None;
                Err(error)
            }
            _ => {
                *files = Some(Files::default());
                Ok(())
            }
        }
    }

    /// Deletes the files that have expired, and returns their number. Files that nobody asked for stay unread.
    pub(super) fn delete_expired(&self, now_ms: EpochMs) -> io::Result<u64> {
        let mut files = self.files.lock();
        let mut deleted = 0;
        for name in names(&self.folder.join(EXPIRING))? {
            let place = Place::found(EXPIRING, name);
            if place.expires_at_ms().is_none_or(|end_ms| now_ms < end_ms) {
                continue;
            }
            remove(&place.path_in(&self.folder))?;
            if let Some(files) = &mut *files {
                files.forget_place(&place);
            }
            deleted += 1;
        }
        Ok(deleted)
    }
}

impl Files {
    /// Reads the descriptions of all files.
    fn read(tenant: &Path) -> io::Result<Self> {
        let mut files = Self::default();
        for folder in [KEPT, EXPIRING] {
            for name in names(&tenant.join(folder))? {
                let place = Place::found(folder, name);
                let path = place.path_in(tenant);
                match File::open(&path).and_then(|file| trailer::read(&file)) {
                    Ok(file) => files.keep_newer(&file, place, tenant)?,
                    Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                        let path = path.display();
                        tracing::warn!(%path, %error, "a stored file is damaged and left alone; delete it by hand");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(files)
    }

    /// Of two files with one path, a node died between writing the newer and deleting the older.
    fn keep_newer(&mut self, file: &StoredFile, place: Place, tenant: &Path) -> io::Result<()> {
        let other = self.by_path.get(file.path.as_str());
        if other.is_some_and(|other| file.modified_at_ms < other.modified_at_ms) {
            return remove(&place.path_in(tenant));
        }
        match self.add(file, place) {
            Some(older) => remove(&older.path_in(tenant)),
            None => Ok(()),
        }
    }

    /// Adds a file, and returns the place of the one that had its path.
    fn add(&mut self, file: &StoredFile, place: Place) -> Option<Place> {
        let known = Known {
            size: file.size,
            modified_at_ms: file.modified_at_ms,
            place,
        };
        self.bytes += file.size;
        let former = self.by_path.insert(file.path.to_string(), known)?;
        self.bytes -= former.size;
        Some(former.place)
    }

    fn forget(&mut self, path: &str) {
        if let Some(known) = self.by_path.remove(path) {
            self.bytes -= known.size;
        }
    }

    fn forget_place(&mut self, place: &Place) {
        let found = self.by_path.iter().find(|(_, known)| known.place == *place);
        if let Some(path) = found.map(|(path, _)| path.clone()) {
            self.forget(&path);
        }
    }

    fn usage(&self) -> FileUsage {
        FileUsage {
            files: self.by_path.len() as u64,
            bytes: self.bytes,
        }
    }

    /// Entries of a folder, found by their paths: a folder costs one look, however much is in it.
    fn list(&self, range: &FolderRange) -> Vec<FolderEntry> {
        let prefix = range.prefix();
        let mut entries = Vec::new();
        let mut from = match &range.after {
            Some(after) => behind(after),
            None => Bound::Included(prefix.clone()),
        };
        while entries.len() < range.limit {
            let next = self.by_path.range((from, Bound::Unbounded)).next();
            let Some((path, known)) = next else { break };
            let Some(below) = path.strip_prefix(&prefix) else {
                break;
            };
            let entry = match below.split_once('/') {
                Some((name, _)) => FolderEntry::Folder {
                    path: format!("{prefix}{name}"),
                },
                None => FolderEntry::File {
                    path: path.clone(),
                    size: known.size,
                    modified_at_ms: known.modified_at_ms,
                },
            };
            from = behind(&entry.key());
            entries.push(entry);
        }
        entries
    }
}

/// The paths behind an entry: behind all that is in it if it is a folder.
fn behind(key: &str) -> Bound<String> {
    match key.strip_suffix('/') {
        // `0` is the character after the slash.
        Some(folder) => Bound::Included(format!("{folder}0")),
        None => Bound::Excluded(key.to_owned()),
    }
}
