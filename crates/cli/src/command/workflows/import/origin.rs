//! The place that workflows come from: a folder, a repository that is cloned, or an archive.

use std::path::Path;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::tree::Tree;
use super::{archive, git};
use crate::usage_error::UsageError;

pub(super) struct Origin {
    pub(super) tree: Tree,
    /// Its name: that of a workflow that lies in its outermost folder.
    pub(super) name: String,
    /// The text that names it in the report.
    pub(super) shown: String,
    /// The clone, which the tree reads from.
    _clone: Option<TempDir>,
}

impl Origin {
    /// Opens a folder, an archive or a repository. Things in `into`, if that is below it, are not its own.
    pub(super) async fn open(given: &str, into: &Path) -> Result<Self> {
        let path = Path::new(given);
        if path.is_file() {
            return Ok(Self::new(given, archive::read(path)?));
        }
        if path.is_dir() && !is_bare(path) {
            let dir = canonical(path)?;
            let into = canonical(into)?;
            let except = Some(into.as_path()).filter(|into| *into != dir);
            let mut origin = Self::new(given, Tree::of_folder(&dir, except)?);
            origin.name = name_of(&dir.to_string_lossy());
            return Ok(origin);
        }
        let address = match path.is_dir() {
            true => canonical(path)?.to_string_lossy().into_owned(),
            false if git::is_address(given) => given.to_owned(),
            false => {
                let complaint = format!(
                    "there is no file or folder {given}; name a checkout of a synced repository, its URL, or a \
                     `project_export-….zip`"
                );
                return Err(UsageError(complaint).into());
            }
        };
        let clone = git::clone(&address).await?;
        let tree = Tree::of_folder(clone.path(), None)?;
        let mut origin = Self::new(&git::shown(given), tree);
        origin._clone = Some(clone);
        Ok(origin)
    }

    fn new(shown: &str, tree: Tree) -> Self {
        Self {
            tree,
            name: name_of(shown),
            shown: shown.to_owned(),
            _clone: None,
        }
    }
}

/// Whether a folder is a repository without a checkout.
fn is_bare(dir: &Path) -> bool {
    dir.join("HEAD").is_file() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

fn canonical(path: &Path) -> Result<std::path::PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))
}

/// The last part of a path or address, without its ending.
fn name_of(text: &str) -> String {
    let last = text.trim_end_matches('/').rsplit(['/', ':']).next();
    let last = last.unwrap_or_default();
    let name = [".git", ".zip"]
        .iter()
        .find_map(|ending| last.strip_suffix(ending));
    match name.unwrap_or(last) {
        "" | "." | ".." => "workflow".to_owned(),
        name => name.to_owned(),
    }
}
