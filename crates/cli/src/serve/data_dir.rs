//! The data folder of a node: its files, and the rights to read them.

use std::{
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, bail};
use headwater_platform::{KeyFile, KeyRing};
use tokio::net::UnixListener;

/// The embedded store.
pub(super) const STORE: &str = "headwater.db";
/// There while the node's store is a database: an embedded one that was there before is out of date.
const ELSEWHERE: &str = "store-is-elsewhere";
/// The other parts of a folder that a backup has.
pub(super) const PARTS: [&str; 3] = [FILES, APPS, WORKFLOW_FOLDERS];
/// Those that open what is in it.
pub(super) const SECRET_PARTS: [&str; 2] = [SECRET_KEY, API_KEY];
pub(super) const FILES: &str = "files";
const APPS: &str = "apps";
const WORKFLOW_FOLDERS: &str = "workflow-folders.json";
const API_KEY: &str = "api-key";
/// The file with the node's id in its cluster.
const NODE_ID: &str = "node-id";
/// The embedded store locks it, too.
const LOCK: &str = "headwater.lock";
/// A process that a killed node was just starting has its folder until that process has begun.
const FREED_WITHIN: Duration = Duration::from_secs(1);
const TRIED_EVERY: Duration = Duration::from_millis(10);
pub(super) const SECRET_KEY: &str = "secret-key";
/// The file with the address of the folder's node.
pub(crate) const ADDRESS_FILE: &str = "address";

/// A node's data folder. Everything in it is the owner's alone.
pub(crate) struct DataDir {
    root: PathBuf,
    found: Found,
    /// Held as long as a node without an embedded store has the folder.
    lock: OnceLock<File>,
}

/// The folder as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Missing,
    Empty,
    InUse,
}

impl DataDir {
    /// Creates the folder if it is missing.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        Self::refuse_file(root)?;
        let shown = root.display();
        let failed =
            || format!("cannot use the data folder {shown}; choose another with --data-dir");
        let found = match fs::read_dir(root).map(|mut entries| entries.next().is_none()) {
            Ok(true) => Found::Empty,
            Err(error) if error.kind() == ErrorKind::NotFound => Found::Missing,
            Ok(false) | Err(_) => Found::InUse,
        };
        fs::create_dir_all(root).with_context(failed)?;
        let root = root.canonicalize().with_context(failed)?;
        fs::set_permissions(&root, Permissions::from_mode(0o700)).with_context(failed)?;
        Ok(Self {
            root,
            found,
            lock: OnceLock::new(),
        })
    }

    /// Refuses a file in the folder's place.
    pub(crate) fn refuse_file(root: &Path) -> Result<()> {
        match root.is_file() {
            true => bail!(
                "the data folder {} is a file, not a folder; choose another with --data-dir",
                root.display()
            ),
            false => Ok(()),
        }
    }

    /// Takes back all that a start has left in a folder in which nothing was before. Only the holder of the store may.
    pub(crate) fn leave_as_found(&self) {
        let taken_back = match self.found {
            Found::InUse => return,
            Found::Missing => fs::remove_dir_all(&self.root),
            Found::Empty => emptied(&self.root),
        };
        if let Err(error) = taken_back {
            tracing::warn!(folder = self.shown(), %error, "the refused start has left files");
        }
    }

    /// The same for one that does not hold the store, unless another node has the folder since.
    pub(crate) async fn leave_unless_taken(&self) {
        if self.found != Found::InUse && self.lock().await.is_ok() {
            self.leave_as_found();
        }
    }

    /// Takes the folder for a node whose store is elsewhere; an embedded one takes it itself.
    ///
    /// # Errors
    /// Another node has it.
    pub(crate) async fn lock(&self) -> Result<()> {
        let path = self.root.join(LOCK);
        let failed = || format!("cannot open {}", path.display());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).with_context(failed)?;
        let give_up_at = Instant::now() + FREED_WITHIN;
        while let Err(TryLockError::WouldBlock) = file.try_lock() {
            if Instant::now() > give_up_at {
                bail!(
                    "another headwater is using this data folder; stop it or choose another --data-dir"
                );
            }
            tokio::time::sleep(TRIED_EVERY).await;
        }
        // The same folder is taken once.
        let _ = self.lock.set(file);
        Ok(())
    }

    /// Notes that the node's store is a database.
    pub(crate) fn store_is_elsewhere(&self) -> Result<()> {
        write_private(&self.root.join(ELSEWHERE), "")
    }

    /// Whether that was noted by the last start on the folder.
    pub(crate) fn has_store_elsewhere(root: &Path) -> bool {
        root.join(ELSEWHERE).exists()
    }

    /// Whether a node's store is there.
    pub(crate) fn is_at(root: &Path) -> bool {
        root.join(STORE).is_file()
    }

    /// Whether a start has got as far as writing into that store.
    pub(crate) fn has_data(root: &Path) -> bool {
        let store = fs::metadata(root.join(STORE));
        store.is_ok_and(|store| store.is_file() && store.len() > 0)
    }

    /// Whether a node has the folder now.
    pub(crate) fn is_in_use(root: &Path) -> bool {
        let file = File::open(root.join(LOCK));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The operator's definitions of apps in a folder that is not opened.
    pub(crate) fn apps_in(root: &Path) -> PathBuf {
        root.join(APPS)
    }

    /// The text of the secret keys in a folder that is not opened.
    pub(crate) fn secret_key_in(root: &Path) -> io::Result<String> {
        fs::read_to_string(root.join(SECRET_KEY))
    }

    /// The embedded store, the owner's alone.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn store(&self) -> Result<PathBuf> {
        let failed = || {
            let shown = self.shown();
            format!("cannot use the data folder {shown}; choose another with --data-dir")
        };
        close_store(&self.root).with_context(failed)?;
        match fs::remove_file(self.root.join(ELSEWHERE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error).with_context(failed),
            _ => Ok(self.root.join(STORE)),
        }
    }

    /// Folders of running workers; emptied at each start.
    pub(crate) fn workers(&self) -> PathBuf {
        self.root.join("workers")
    }

    /// Unpacked components; may be deleted at any time while the node is down.
    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Files of workflows, and those of events.
    pub(crate) fn files(&self) -> PathBuf {
        self.root.join(FILES)
    }

    /// The folders that `--workflows` deploys, with the ids of their workflows.
    pub(crate) fn workflow_folders(&self) -> PathBuf {
        self.root.join(WORKFLOW_FOLDERS)
    }

    /// The operator's definitions of apps.
    pub(crate) fn apps(&self) -> PathBuf {
        self.root.join(APPS)
    }

    /// The socket at which components reach the API under a `--self-alias`.
    pub(crate) fn api_socket(&self) -> PathBuf {
        self.root.join("api.sock")
    }

    /// Listens there, in place of a former node.
    pub(crate) fn bind_api_socket(&self) -> Result<UnixListener> {
        bind_socket(&self.api_socket())
    }

    /// Whether secret keys are kept in the folder.
    pub(crate) fn has_secret_keys(&self) -> bool {
        self.root.join(SECRET_KEY).exists()
    }

    /// Whether the first user's key is kept in the folder.
    pub(crate) fn has_api_key(&self) -> bool {
        self.root.join(API_KEY).exists()
    }

    /// The place of the secret keys, for people.
    pub(crate) fn shown_secret_key_path(&self) -> String {
        self.root.join(SECRET_KEY).display().to_string()
    }

    /// The secret keys: the given ones, else those in the folder, where the first is created if there
    /// is none.
    pub(crate) fn secret_keys(&self, given: Option<&str>) -> Result<KeyRing> {
        let path = self.root.join(SECRET_KEY);
        let (text, origin) = match given {
            Some(text) => (text.to_owned(), "HEADWATER_SECRET_KEY".to_owned()),
            None => (self.kept_secret_keys(&path)?, path.display().to_string()),
        };
        text.parse()
            .map_err(|reason| anyhow!("the secret key in {origin} cannot be used: {reason}"))
    }

    /// The file of secret keys that were not given.
    pub(crate) fn key_file(&self) -> Arc<dyn KeyFile> {
        Arc::new(SecretKeyFile(self.root.join(SECRET_KEY)))
    }

    fn kept_secret_keys(&self, path: &Path) -> Result<String> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let text = new_secret_keys()?.to_string();
                write_private(path, &text)?;
                Ok(text)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// The id of the folder's node in its cluster, created when it is first asked for.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn node_id(&self) -> Result<String> {
        let path = self.root.join(NODE_ID);
        match fs::read_to_string(&path) {
            Ok(id) => Ok(id.trim().to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let id = format!("n_{}", hex::encode(random::<4>()?));
                write_private(&path, &id)?;
                Ok(id)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Keeps the address at which the command line on this machine finds the node.
    pub(crate) fn write_address(&self, url: &str) -> Result<()> {
        let path = self.root.join(ADDRESS_FILE);
        fs::write(&path, format!("{url}\n"))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Keeps the first user's key where the command line on this machine finds it.
    pub(crate) fn write_api_key(&self, key: &str) -> Result<()> {
        keep_api_key(&self.root, key).map(drop)
    }

    /// The folder, for people.
    pub(crate) fn shown(&self) -> String {
        self.root.display().to_string()
    }

    /// The place of the first user's key, for people.
    pub(crate) fn shown_key_path(&self) -> String {
        self.root.join(API_KEY).display().to_string()
    }
}

/// Makes the store in a folder the owner's alone, also where a copy of the folder is open to others. The files that SQLite
/// puts beside it later have the same mode.
pub(super) fn close_store(root: &Path) -> io::Result<()> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(root.join(STORE))?;
    for suffix in ["", "-wal", "-shm"] {
        let file = root.join(format!("{STORE}{suffix}"));
        match fs::set_permissions(file, Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Deletes everything in a folder.
fn emptied(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

struct SecretKeyFile(PathBuf);

impl KeyFile for SecretKeyFile {
    fn write(&self, keys: &str) -> io::Result<()> {
        write_private(&self.0, keys).map_err(io::Error::other)
    }
}

/// Keeps a key where the command line on this machine finds it, and says where that is.
pub(crate) fn keep_api_key(root: &Path, key: &str) -> Result<PathBuf> {
    let file = root.join(API_KEY);
    write_private(&file, key)?;
    Ok(file)
}

/// A first secret key.
pub(super) fn new_secret_keys() -> Result<KeyRing> {
    Ok(KeyRing::first(random()?))
}

/// A new API key.
pub(super) fn new_api_key() -> Result<String> {
    Ok(format!("hw_{}", hex::encode(random::<24>()?)))
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("cannot get random bytes from the system: {error}"))?;
    Ok(bytes)
}

/// Writes a file that only its owner may read, whole or not at all.
pub(super) fn write_private(path: &Path, text: &str) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let unfinished = path.with_extension("unfinished");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)
        .with_context(failed)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(failed)?;
    fs::rename(&unfinished, path).with_context(failed)?;
    // The new name is on disk with its folder.
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_context(failed)
}

/// Listens at the API's socket, in place of whatever is left of a former one.
pub(crate) fn bind_socket(path: &Path) -> Result<UnixListener> {
    // Binding says so if it could not be removed.
    let _ = fs::remove_file(path);
    UnixListener::bind(path)
        .with_context(|| format!("cannot open the API's socket {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_in_which_nothing_was_is_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let start = |name: &str| {
            let data_dir = DataDir::open(&folder.path().join(name)).unwrap();
            data_dir.secret_keys(None).unwrap();
            data_dir.store().unwrap();
            fs::create_dir(data_dir.cache()).unwrap();
            data_dir.leave_as_found();
            folder.path().join(name)
        };
        assert!(!start("missing").exists());
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert_eq!(fs::read_dir(start("empty")).unwrap().count(), 0);
        fs::create_dir_all(folder.path().join("used/apps")).unwrap();
        assert_eq!(fs::read_dir(start("used")).unwrap().count(), 4);
    }

    #[test]
    fn an_empty_store_and_a_file_are_told_apart_from_a_folder_with_data() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join(STORE);
        assert!(!DataDir::has_data(folder.path()));
        fs::write(&store, "").unwrap();
        assert!(DataDir::is_at(folder.path()) && !DataDir::has_data(folder.path()));
        fs::write(&store, "x").unwrap();
        assert!(DataDir::has_data(folder.path()));
        let refused = DataDir::open(&store).err().unwrap().to_string();
        assert!(refused.contains("is a file, not a folder"), "{refused}");
    }

    #[tokio::test]
    async fn a_folder_that_another_node_has_taken_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("data");
        let first = DataDir::open(&root).unwrap();
        let second = DataDir::open(&root).unwrap();
        second.lock().await.unwrap();
        first.leave_unless_taken().await;
        assert!(root.exists());
        drop(second);
        first.leave_unless_taken().await;
        assert!(!root.exists());
    }

    #[tokio::test]
    async fn one_node_at_a_time_has_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let open = || DataDir::open(folder.path()).unwrap();
        let first = open();
        first.lock().await.unwrap();
        let refused = open().lock().await.unwrap_err().to_string();
        assert!(refused.contains("--data-dir"), "{refused}");
        drop(first);
        open().lock().await.unwrap();
    }

    #[test]
    fn secrets_are_the_owners_alone_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(&folder.path().join("data")).unwrap();
        data_dir.store().unwrap();
        let kept = || data_dir.secret_keys(None).unwrap().to_string();
        let key = kept();
        assert_eq!(kept(), key);
        let given = format!("2:{},{}", hex::encode([7; 32]), hex::encode([8; 32]));
        let given = data_dir.secret_keys(Some(&given)).unwrap();
        data_dir.key_file().write(&given.to_string()).unwrap();
        assert_eq!(kept(), given.to_string());
        let error = data_dir.secret_keys(Some("short")).unwrap_err().to_string();
        assert!(
            error.contains("HEADWATER_SECRET_KEY") && error.contains("64"),
            "{error}"
        );
        for file in ["secret-key", "headwater.db"] {
            let path = folder.path().join("data").join(file);
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }
}
