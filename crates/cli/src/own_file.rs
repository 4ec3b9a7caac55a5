//! The files that belong to a folder: links are followed within it, and refused where they lead out of it. Whoever wrote
//! the folder must not choose which other files of this machine are sent along.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The folder itself, links to it followed.
///
/// # Errors
/// It cannot be read.
pub(crate) fn folder(dir: &Path) -> Result<PathBuf> {
    let unreadable = || format!("cannot read the folder {}", dir.display());
    dir.canonicalize().with_context(unreadable)
}

/// The file at a path within a folder as [`folder`] tells it, links followed.
///
/// # Errors
/// It is not there, or out of the folder.
pub(crate) fn within(folder: &Path, path: &Path) -> Result<PathBuf> {
    let file = folder.join(path);
    let unreadable = || format!("cannot read {}", file.display());
    let meant = file.canonicalize().with_context(unreadable)?;
    if !meant.starts_with(folder) {
        bail!(
            "`{}` is a link out of the folder; put the file itself there",
            path.display()
        );
    }
    Ok(meant)
}
