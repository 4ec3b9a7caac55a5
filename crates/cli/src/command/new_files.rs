//! Files that a command creates, and never writes over one that is there.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::usage_error::UsageError;

/// Before anything is written: half of the files would be worse than none.
pub(super) fn refuse_existing(paths: &[PathBuf]) -> Result<(), UsageError> {
    match paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(exists(path)),
        None => Ok(()),
    }
}

pub(super) fn write_new(path: &Path, text: &str) -> Result<()> {
    let created = File::create_new(path);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(path).into()),
        written => written.with_context(|| format!("cannot write {}", path.display())),
    }
}

fn exists(path: &Path) -> UsageError {
    UsageError(format!(
        "{} exists already; give another name, or delete it",
        path.display()
    ))
}
