//! Deno's cache of the runtime's own modules and of those that components share, analysed and compiled, which every
//! process reads and none can write. With it a process that imports the platform package takes about half of the
//! processor time.
//!
//! It is filled by a process that runs no component, and then published whole: code that one component could write
//! there would run in the next. When components share a module that it does not have, another one with that module takes
//! its place, a few times in a node's life. Not the builder's cache: workers may not import its downloads.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, config::DbConfig};
use sha2::{Digest, Sha256};

use super::{
    command_line::CommandLine,
    config::SandboxConfig,
    permissions::{Folders, Permissions},
};
use crate::{
    confine::plan::Access,
    runtime_files::{publish, readable},
    shared_modules::SharedModule,
};

/// The prefix of such folders' names. The first releases had one of this name, which components wrote to.
const NAME: &str = "deno-workers";
/// The folder of everything that Deno stores by origin (`localStorage`, `caches`). All components are one origin to it.
const STORAGE: &str = "location_data";
/// V8's heap for filling it.
const HEAP_MIB: u32 = 256;
/// Shared modules that it has at most. A start that finds as many begins anew, with those that are imported then.
const MODULES_MAX: usize = 8;
/// The file with the names of those modules.
const MODULES: &str = "shared_modules";
/// Caches of the same Deno and runtime are kept at least so long: tests share the folder, and each gives its workers
/// the one that it has opened.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The beginning of the names of folders that are being removed.
const REMOVED: &str = "removed-";

/// The cache that processes are given from now on.
#[derive(Debug)]
pub(super) struct RuntimeCache {
    current: RwLock<Filled>,
    /// The modules that were tried since the start.
    tried: Mutex<Vec<SharedModule>>,
    /// Held while another one is filled.
    filling: Mutex<()>,
}

#[derive(Debug, Clone)]
struct Filled {
    place: PathBuf,
    /// The shared modules in it.
    modules: Vec<SharedModule>,
}

impl RuntimeCache {
    /// The latest cache that there is, or one without shared modules. Those of another Deno or runtime are removed.
    ///
    /// # Errors
    /// It cannot be written, or the runtime does not start.
    pub(super) fn open(command_line: &CommandLine) -> io::Result<Self> {
        let config = &command_line.config;
        let filled = match latest(config)? {
            Some(filled) => filled,
            None => fill(command_line, Vec::new())?,
        };
        remove_others(config, &filled.place)?;
        Ok(Self {
            current: RwLock::new(filled),
            tried: Mutex::default(),
            filling: Mutex::default(),
        })
    }

    /// The folder to give to a process.
    pub(super) fn place(&self) -> PathBuf {
        self.current.read().place.clone()
    }

    /// Whether the module is to be learnt: it is not in the cache, there is room for it, and it was not tried before.
    pub(super) fn wants(&self, module: &SharedModule) -> bool {
        let current = self.current.read();
        if current.modules.contains(module) || current.modules.len() >= MODULES_MAX {
            return false;
        }
        let mut tried = self.tried.lock();
        let is_new = !tried.contains(module);
        if is_new {
            tried.push(module.clone());
        }
        is_new
    }

    /// Replaces the cache by one that has this module, too. Processes keep the one that they were started with.
    pub(super) fn learn(&self, command_line: &CommandLine, module: SharedModule) {
        let _one_at_a_time = self.filling.lock();
        let name = module.name().to_owned();
        let mut modules = self.current.read().modules.clone();
        modules.push(module);
        match fill(command_line, modules) {
            Ok(filled) => *self.current.write() = filled,
            Err(error) => tracing::warn!(
                %error,
                module = name,
                "each process compiles this module of components itself; a restart tries again"
            ),
        }
    }
}

/// The beginning of the names of caches for this Deno and runtime.
fn family(config: &SandboxConfig) -> String {
    let deno = config.confinement.deno();
    let size = deno.metadata().map_or(0, |metadata| metadata.len());
    let mut hash = Sha256::new();
    hash.update(deno.as_os_str().as_encoded_bytes());
    hash.update(size.to_be_bytes());
    let runtime = config.runtime.folder.file_name().unwrap_or_default();
    hash.update(runtime.as_encoded_bytes());
    let hash = hex::encode(&hash.finalize()[..8]);
    format!("{NAME}-{hash}-")
}

/// The place of the cache with these modules.
fn place(config: &SandboxConfig, modules: &[SharedModule]) -> PathBuf {
    let mut names = Vec::from_iter(modules.iter().map(SharedModule::name));
    names.sort_unstable();
    let mut hash = Sha256::new();
    names.iter().for_each(|name| hash.update(name));
    let hash = hex::encode(&hash.finalize()[..8]);
    config.cache_dir.join(family(config) + &hash)
}

/// The names of modules, a line each.
fn names(modules: &[SharedModule]) -> String {
    modules
        .iter()
        .map(|module| format!("{}\n", module.name()))
        .collect()
}

/// The cache that was filled last, unless it is full.
fn latest(config: &SandboxConfig) -> io::Result<Option<Filled>> {
    let family = family(config);
    let mut found = Vec::new();
    for entry in fs::read_dir(&config.cache_dir)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&family) {
            found.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    found.sort();
    let filled = found.into_iter().rev().find_map(|(_, place)| {
        let names = fs::read_to_string(place.join(MODULES)).ok()?;
        let modules = names.lines().map(SharedModule::named).collect();
        Some(Filled { place, modules })
    });
    Ok(filled.filter(|filled| filled.modules.len() < MODULES_MAX))
}

/// Fills the cache with these modules, unless that has been done.
fn fill(command_line: &CommandLine, modules: Vec<SharedModule>) -> io::Result<Filled> {
    let config = &command_line.config;
    let place = place(config, &modules);
    if !place.is_dir() {
        let staging = tempfile::Builder::new()
            .prefix("new-deno-workers-")
            .tempdir_in(&config.cache_dir)?;
        // Where a folder would be created for storage there is a file.
        fs::write(staging.path().join(STORAGE), "")?;
        config.confinement.give(staging.path())?;
        import_all(command_line, staging.path(), &modules)?;
        fs::write(staging.path().join(MODULES), names(&modules))?;
        settle(staging.path())?;
        readable(staging.path())?;
        publish(staging, &place)?;
    }
    Ok(Filled { place, modules })
}

fn remove_others(config: &SandboxConfig, place: &Path) -> io::Result<()> {
    let family = family(config);
    for entry in fs::read_dir(&config.cache_dir)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_kept = || {
            let age = entry.metadata().and_then(|metadata| metadata.modified());
            let age = age.map(|modified| modified.elapsed().unwrap_or_default());
            name.starts_with(&family) && age.is_ok_and(|age| age < KEPT)
        };
        if name.starts_with(REMOVED) {
            remove(&path)?;
        } else if name.starts_with(NAME) && path != place && !is_kept() {
            // A folder that is half removed must not be taken for a cache.
            let removed = config.cache_dir.join(format!("{REMOVED}{name}"));
            match fs::rename(&path, &removed) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => remove(&removed)?,
            }
        }
    }
    Ok(())
}

/// Removes a folder, unless another process has.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Moves the contents of Deno's database logs into their main files. Otherwise each process, which cannot write, would
/// read the whole log, compiled code included, before its first lookup. The emptied log stays: without one, lookups
/// fail. They fail, too, if SQLite still has to count the rows for its query planner, which Deno asks for as it opens a
/// database.
fn settle(cache: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cache)? {
        let path = entry?.path();
        if !log_of(&path).is_file() {
            continue;
        }
        let settled = Connection::open(&path).and_then(|database| {
            database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            database.execute_batch("ANALYZE")?;
            database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        });
        settled.map_err(io::Error::other)?;
    }
    Ok(())
}

/// The log of a database that is at `path`.
fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Starts the runtime, which imports these modules and ends, for lack of anything to do. Their packages are not
/// evaluated: that is in a function of each.
fn import_all(
    command_line: &CommandLine,
    cache: &Path,
    modules: &[SharedModule],
) -> io::Result<()> {
    let nothing = tempfile::tempdir_in(&command_line.config.cache_dir)?;
    readable(nothing.path())?;
    let permissions = Permissions {
        folders: Folders {
            code: nothing.path().to_owned(),
            beside: None,
            tmp: None,
            sockets: None,
        },
        network: false,
        heap_mib: HEAP_MIB,
    };
    let mut command = command_line.command(&permissions, cache, Access::Write)?;
    command.args(modules.iter().map(SharedModule::specifier));
    let output = command.as_std_mut().stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "the JavaScript runtime does not start ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::{Connection, OpenFlags};

    use super::{log_of, settle};

    #[test]
    fn databases_hold_everything_in_their_main_files_and_keep_an_empty_log() {
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().join("v8_code_cache");
        let writing = Connection::open(&path).unwrap();
        writing
            .query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))
            .unwrap();
        writing
            .execute_batch("CREATE TABLE codecache (code); INSERT INTO codecache VALUES (1)")
            .unwrap();
        // As a process leaves it that ends without closing it.
        std::mem::forget(writing);
        fs::write(cache.path().join("location_data"), "").unwrap();
        settle(cache.path()).unwrap();
        assert_eq!(fs::metadata(log_of(&path)).unwrap().len(), 0);
        let reading = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        reading.execute_batch("PRAGMA optimize").unwrap();
        let counted = "SELECT stat FROM sqlite_stat1 WHERE tbl = 'codecache'";
        let counted: String = reading.query_row(counted, (), |row| row.get(0)).unwrap();
        assert_eq!(counted, "1", "the planner has nothing left to write");
        let copy = cache.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        let code: i64 = Connection::open(copy)
            .and_then(|copy| copy.query_row("SELECT code FROM codecache", (), |row| row.get(0)))
            .unwrap();
        assert_eq!(code, 1);
    }
}
