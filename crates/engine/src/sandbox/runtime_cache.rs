//! Deno's cache of the runtime's own modules, which every process reads and none can write.
//!
//! It is filled once, by a process that runs no component, and then published whole: code that one
//! component could write there would run in the next. Not the builder's cache: workers may not import its downloads.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::Stdio,
};

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
};

/// The prefix of such folders' names. The first releases had one of this name, which components wrote to.
const NAME: &str = "deno-workers";
/// The folder of everything that Deno stores by origin (`localStorage`, `caches`). All components are one origin to it.
const STORAGE: &str = "location_data";
/// V8's heap for filling it.
const HEAP_MIB: u32 = 256;

/// The place of the cache: one for each Deno and runtime.
pub(super) fn place(config: &SandboxConfig) -> PathBuf {
    let deno = config.confinement.deno();
    let size = deno.metadata().map_or(0, |metadata| metadata.len());
    let mut hash = Sha256::new();
    hash.update(deno.as_os_str().as_encoded_bytes());
    hash.update(size.to_be_bytes());
    let runtime = config.runtime.folder.file_name().unwrap_or_default();
    hash.update(runtime.as_encoded_bytes());
    let hash = hex::encode(&hash.finalize()[..8]);
    config.cache_dir.join(format!("{NAME}-{hash}"))
}

/// Fills the cache, unless that has been done, and removes others.
pub(super) fn prepare(command_line: &CommandLine, place: &Path) -> io::Result<()> {
    let config = &command_line.config;
    if !place.is_dir() {
        let staging = tempfile::Builder::new()
            .prefix("new-deno-workers-")
            .tempdir_in(&config.cache_dir)?;
        // Where a folder would be created for storage there is a file.
        fs::write(staging.path().join(STORAGE), "")?;
        config.confinement.give(staging.path())?;
        fill(command_line, staging.path())?;
        settle(staging.path())?;
        readable(staging.path())?;
        publish(staging, place)?;
    }
    for entry in fs::read_dir(&config.cache_dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(NAME) && path != place {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Moves the contents of Deno's database logs into their main files. Otherwise each process, which cannot write, would
/// read the whole log, compiled code included, before its first lookup. The emptied log stays: without one, lookups
/// fail.
fn settle(cache: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cache)? {
        let path = entry?.path();
        if !log_of(&path).is_file() {
            continue;
        }
        let settled = Connection::open(&path).and_then(|database| {
            database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
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

/// Starts the runtime and has it end at once, for lack of anything to do.
fn fill(command_line: &CommandLine, cache: &Path) -> io::Result<()> {
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

    use rusqlite::Connection;

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
        let copy = cache.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        let code: i64 = Connection::open(copy)
            .and_then(|copy| copy.query_row("SELECT code FROM codecache", (), |row| row.get(0)))
            .unwrap();
        assert_eq!(code, 1);
    }
}
