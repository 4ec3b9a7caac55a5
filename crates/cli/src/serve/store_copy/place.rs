//! Places of a node's store, as the command line names them, and what stands beside it there.

use std::{
    fmt, fs, io,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use headwater_platform::KeyRing;
use headwater_store::{
    FileStorage,
    transfer::{EmptyTables, Tables},
};
use headwater_store_postgres::{PostgresFiles, PostgresTables};
use headwater_store_sqlite::SqliteTables;

use super::super::{
    cluster::{ClusterKeys, ClusterSecret},
    data_dir::{self, DataDir, STORE},
    environment,
    files::FolderOfFiles,
    store::is_database_url,
};
use crate::{at_file, usage_error::UsageError};

/// The variable with the secret of a cluster, which opens the secret keys in its database.
const CLUSTER_SECRET: &str = "HEADWATER_CLUSTER_SECRET";
/// The variable with the secret key of a node that keeps it in no folder.
const SECRET_KEY: &str = "HEADWATER_SECRET_KEY";
/// The files that a folder may have that is to become a copy: a store that is looked into, and the lock of the command itself.
const OF_NO_NODE: [&str; 4] = [
    STORE,
    "headwater.db-wal",
    "headwater.db-shm",
    "headwater.lock",
];

/// A place as it was given. It is shown without a password.
pub(super) enum Place {
    Folder(PathBuf),
    Database(String),
}

impl Place {
    pub(super) fn of(flag: &str, given: &str) -> Result<Self> {
        let given = at_file::read(given, flag)?;
        if is_database_url(&given) {
            return Ok(Self::Database(given));
        }
        if given.is_empty() || given.contains("://") {
            // Not shown: it may have a password.
            let reason =
                format!("{flag}: must be a data folder, or a URL that begins with postgres://");
            return Err(UsageError(reason).into());
        }
        Ok(Self::Folder(given.into()))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Database(url) => f.write_str(&shown(url)),
        }
    }
}

/// A database's URL without password and parameters, which may have one.
fn shown(url: &str) -> String {
    let (address, _) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    // A password may have unescaped signs of any kind, so that the last one counts.
    match rest.rsplit_once('@') {
        Some((login, host)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

/// A store that is copied.
pub(super) enum Original {
    Folder(PathBuf, SqliteTables),
    Database(PostgresTables),
}

impl Original {
    pub(super) async fn open(place: &Place) -> Result<Self> {
        Ok(match place {
            Place::Folder(folder) => {
                let shown = folder.display();
                if !DataDir::is_at(folder) {
                    bail!("there is no embedded store in {shown}; name the data folder of a node");
                }
                if DataDir::has_store_elsewhere(folder) {
                    bail!(
                        "the node of {shown} has its store in a database, and the embedded one there is out of date: \
                         name the database"
                    );
                }
                let tables = SqliteTables::original(&folder.join(STORE))?;
                Self::Folder(folder.clone(), tables)
            }
            Place::Database(url) => Self::Database(PostgresTables::original(url).await?),
        })
    }

    pub(super) fn tables(&self) -> &dyn Tables {
        match self {
            Self::Folder(_, tables) => tables,
            Self::Database(tables) => tables,
        }
    }

    /// The secret keys in a cluster's database, as its secret opens them.
    ///
    /// # Errors
    /// The secret is not given, or it is another one.
    pub(super) async fn cluster_keys(&self) -> Result<Option<KeyRing>> {
        let Self::Database(tables) = self else {
            return Ok(None);
        };
        let database = tables.store();
        if !database.knows_members().await? || database.cluster_keys().await?.is_none() {
            return Ok(None);
        }
        let secret = std::env::var(CLUSTER_SECRET).ok().with_context(|| {
            format!("the secret keys in this database are sealed with the secret of its cluster; set {CLUSTER_SECRET}")
        })?;
        let secret = ClusterSecret::of(&secret)?;
        ClusterKeys::new(database, &secret, environment::system()?)
            .kept()
            .await
    }

    pub(super) fn files(&self) -> Result<Arc<dyn FileStorage>> {
        match self {
            Self::Folder(folder, _) => files_in(folder),
            Self::Database(tables) => Ok(Arc::new(PostgresFiles::of(tables.store()))),
        }
    }
}

/// A store that a copy is made in.
pub(super) enum Destination {
    Folder(PathBuf, SqliteTables),
    Database(String, PostgresTables),
}

impl Destination {
    pub(super) async fn create(place: &Place) -> Result<Self> {
        Ok(match place {
            Place::Folder(folder) => {
                let store = folder.join(STORE);
                if !SqliteTables::is_unfinished(&store)? {
                    refuse_parts(folder)?;
                }
                DataDir::open(folder)?;
                let tables = SqliteTables::destination(&store)?;
                data_dir::close_store(folder)?;
                emptied(&folder.join(data_dir::FILES))?;
                Self::Folder(folder.clone(), tables)
            }
            Place::Database(url) => {
                Self::Database(shown(url), PostgresTables::destination(url).await?)
            }
        })
    }

    pub(super) fn tables(&self) -> &dyn EmptyTables {
        match self {
            Self::Folder(_, tables) => tables,
            Self::Database(_, tables) => tables,
        }
    }

    pub(super) fn files(&self) -> Result<Arc<dyn FileStorage>> {
        match self {
            Self::Folder(folder, _) => files_in(folder),
            Self::Database(_, tables) => Ok(Arc::new(PostgresFiles::of(tables.store()))),
        }
    }

    /// Gives a place what stands beside the rows of a store: the secret keys of a cluster or of the environment, and what the
    /// other folder has.
    pub(super) async fn take_parts(
        &self,
        original: &Original,
        cluster_keys: Option<&KeyRing>,
    ) -> Result<()> {
        let to = match (self, original) {
            (Self::Folder(to, _), _) => to,
            (Self::Database(_, tables), Original::Database(from)) if cluster_keys.is_some() => {
                let sealed = from.store().cluster_keys().await?;
                let sealed = sealed.context("the secret keys of the cluster are gone")?;
                tables.store().begin_cluster_keys(&sealed).await?;
                return Ok(());
            }
            (Self::Database(..), _) => return Ok(()),
        };
        if let Original::Folder(from, _) = original {
            for part in data_dir::PARTS
                .into_iter()
                .chain(data_dir::SECRET_PARTS)
                .filter(|part| *part != data_dir::FILES)
            {
                copy_part(&from.join(part), &to.join(part))?;
            }
        }
        let given = match std::env::var(SECRET_KEY) {
            Ok(given) => Some(given.parse::<KeyRing>().map_err(|reason| {
                anyhow::anyhow!("the secret key in {SECRET_KEY} cannot be used: {reason}")
            })?),
            Err(_) => None,
        };
        match given.as_ref().or(cluster_keys) {
            Some(keys) => {
                data_dir::write_private(&to.join(data_dir::SECRET_KEY), &keys.to_string())
            }
            None => Ok(()),
        }
    }

    /// How a node goes on from the copy, with the key that it needs.
    pub(super) fn next_step(&self, original: &Original) -> String {
        let needs_key = "accounts and secrets are encrypted with it";
        match (self, original) {
            (Self::Database(url, _), Original::Folder(from, _)) => {
                let from = from.display();
                let key = match std::env::var_os(SECRET_KEY).is_some() {
                    true => format!("the {SECRET_KEY} that {from} was used with"),
                    false => format!("the secret key {from}/{}", data_dir::SECRET_KEY),
                };
                format!(
                    "start it with `headwater serve --database-url URL --data-dir {from}`, where URL is that of {url}. A node \
                     with another data folder needs {key}: {needs_key}"
                )
            }
            (Self::Database(url, _), Original::Database(..)) => format!(
                "start it with `headwater serve --database-url URL`, where URL is that of {url}, and the secret key, or the \
                 cluster's secret, that the other's nodes have: {needs_key}"
            ),
            (Self::Folder(to, _), _) => {
                let key = to.join(data_dir::SECRET_KEY);
                let shown = to.display();
                match key.exists() {
                    true => format!("start it with `headwater serve --data-dir {shown}`"),
                    false => format!(
                        "before you start it with `headwater serve --data-dir {shown}`, put the secret key of the \
                         database's nodes into {} or {SECRET_KEY}: {needs_key}. Apps of your own are in the folders of those \
                         nodes, too",
                        key.display()
                    ),
                }
            }
        }
    }
}

fn files_in(folder: &Path) -> Result<Arc<dyn FileStorage>> {
    let files = FolderOfFiles::open(folder.join(data_dir::FILES));
    Ok(Arc::new(files.context("cannot open the folder of files")?))
}

/// Refuses a folder in which something else is than an empty store.
fn refuse_parts(folder: &Path) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut others = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !OF_NO_NODE.contains(&name.as_str()) {
            others.push(name);
        }
    }
    others.sort_unstable();
    match others.is_empty() {
        true => Ok(()),
        false => bail!(
            "it is not empty: {} is there; name a new folder, or move that one away first",
            others.join(", ")
        ),
    }
}

fn emptied(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Copies a file, or a folder with all that is in it, with its mode.
fn copy_part(from: &Path, to: &Path) -> Result<()> {
    let copied = || -> io::Result<()> {
        if !from.is_dir() {
            return match fs::copy(from, to) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                copied => copied.map(drop),
            };
        }
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_part(&entry.path(), &to.join(entry.file_name())).map_err(io::Error::other)?;
        }
        Ok(())
    };
    copied().with_context(|| format!("cannot copy {}", from.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, expected) in [
            (
                "postgres://a:hunter2@db/x?password=hunter2",
                "postgres://a@db/x",
            ),
            (
                "postgresql://a:hun@ter2@h1:1,h2:2/x",
                "postgresql://a@h1:1,h2:2/x",
            ),
            ("postgres:///x?host=/run&password=hunter2", "postgres:///x"),
            ("postgres://db/x", "postgres://db/x"),
        ] {
            assert_eq!(Place::of("--to", url).unwrap().to_string(), expected);
        }
        for url in ["", "mysql://a:hunter2@db/x", " postgres://a:hunter2@db"] {
            let refused = Place::of("--to", url).err().unwrap().to_string();
            assert!(refused.starts_with("--to: "), "{refused}");
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        refuse_parts(&folder.path().join("missing")).unwrap();
        for part in OF_NO_NODE {
            fs::write(folder.path().join(part), "").unwrap();
        }
        refuse_parts(folder.path()).unwrap();
        fs::write(folder.path().join("secret-key"), "").unwrap();
        let refused = refuse_parts(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("secret-key is there"), "{refused}");
    }
}
