//! The TypeScript that runs inside Deno, carried in the binary and written out for Deno to read.
//!
//! Responsible for: one complete folder per content. Not for: the runtime's behaviour.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

static WORKER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../runtime/worker");
static BUILTINS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../runtime/builtins");
const IMPORT_MAP: &str = include_str!("../../../runtime/import_map.json");

/// The place of the runtime's files.
#[derive(Debug, Clone)]
pub(crate) struct RuntimeFiles {
    /// The folder with all of them.
    pub(crate) folder: PathBuf,
}

impl RuntimeFiles {
    /// Writes the runtime below `cache_dir`, unless it is there.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn materialise(cache_dir: &Path) -> io::Result<Self> {
        let files = files();
        let folder = cache_dir.join(format!("runtime-{}", content_hash(&files)));
        if !folder.is_dir() {
            fs::create_dir_all(cache_dir)?;
            let staging = tempfile::Builder::new()
                .prefix("runtime-new-")
                .tempdir_in(cache_dir)?;
            for (path, content) in &files {
                let path = staging.path().join(path);
                fs::create_dir_all(path.parent().unwrap_or(cache_dir))?;
                fs::write(path, content)?;
            }
            publish(staging, &folder)?;
        }
        readable(&folder)?;
        Ok(Self { folder })
    }

    /// The module that a worker runs, in the folder.
    #[expect(clippy::unused_self, reason = "it belongs to the folder")]
    pub(crate) fn main(&self) -> &'static Path {
        Path::new("worker/main.ts")
    }

    /// The import map that routes built-in modules through the runtime, in the folder.
    #[expect(clippy::unused_self, reason = "it belongs to the folder")]
    pub(crate) fn import_map(&self) -> &'static Path {
        Path::new("import_map.json")
    }
}

/// Makes a folder and its contents readable for every user, whatever the node's umask: code runs as another user than
/// the node, and reaches only folders that it is given.
pub(crate) fn readable(folder: &Path) -> io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_symlink() {
            continue;
        }
        let wanted = if metadata.is_dir() { 0o755 } else { 0o644 };
        if metadata.permissions().mode() & wanted != wanted {
            fs::set_permissions(&path, fs::Permissions::from_mode(wanted))?;
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        }
    }
    Ok(())
}

/// Gives a finished folder its name; another process may have been faster, with the same content.
pub(crate) fn publish(staging: tempfile::TempDir, folder: &Path) -> io::Result<()> {
    let staging = staging.keep();
    let renamed = fs::rename(&staging, folder);
    if renamed.is_err() {
        // The other process was first; failing to remove this folder is harmless.
        let _ = fs::remove_dir_all(&staging);
    }
    if folder.is_dir() { Ok(()) } else { renamed }
}

fn files() -> Vec<(PathBuf, &'static [u8])> {
    let mut files = vec![(PathBuf::from("import_map.json"), IMPORT_MAP.as_bytes())];
    for (name, folder) in [("worker", &WORKER), ("builtins", &BUILTINS)] {
        files.extend(
            folder
                .files()
                .map(|file| (Path::new(name).join(file.path()), file.contents())),
        );
    }
    files.sort();
    files
}

fn content_hash(files: &[(PathBuf, &[u8])]) -> String {
    let mut hash = Sha256::new();
    for (path, content) in files {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(Sha256::digest(content));
    }
    hex::encode(&hash.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use super::{RuntimeFiles, files};

    #[test]
    fn the_runtime_is_written_once_and_whole() {
        let cache = tempfile::tempdir().unwrap();
        let first = RuntimeFiles::materialise(cache.path()).unwrap();
        let written = std::fs::metadata(first.folder.join(first.main()))
            .unwrap()
            .modified()
            .unwrap();
        let again = RuntimeFiles::materialise(cache.path()).unwrap();
        assert_eq!(first.folder, again.folder);
        assert_eq!(
            std::fs::metadata(again.folder.join(again.main()))
                .unwrap()
                .modified()
                .unwrap(),
            written
        );
        let folder = first.folder;
        assert!(files().len() > 30);
        assert!(
            files()
                .iter()
                .all(|(path, content)| std::fs::read(folder.join(path)).unwrap() == *content)
        );
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 1);
    }
}
