//! A look at the folder of workflows: the folder of each workflow below it, as its files are at this moment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::super::data_dir::DataDir;
use crate::stamp::Stamp;
use crate::workflow::folder::{self, PACKAGES, STATE_FILE};

/// The name of the folder itself, which may be that of a workflow.
const ITSELF: &str = ".";

/// The folder of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Empty where the files cannot be told.
    pub(super) stamps: BTreeMap<String, Stamp>,
    /// The text of its state file.
    pub(super) state: Option<String>,
}

/// All that is there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// By path below the folder.
    pub(super) folders: BTreeMap<String, Found>,
    /// Folders that could not be read, with the reason: workflows may be in them.
    pub(super) unreadable: BTreeMap<String, String>,
}

impl Look {
    /// # Errors
    /// The folder itself cannot be read.
    pub(super) fn at(root: &Path) -> Result<Self> {
        let mut look = Self::default();
        look.collect(root, String::new())
            .with_context(|| format!("cannot read the folder {}", root.display()))?;
        Ok(look)
    }

    /// Whether the folder may be there without having been found.
    pub(super) fn may_hide(&self, folder: &str) -> bool {
        let mut unreadable = self.unreadable.keys();
        unreadable.any(|parent| Path::new(folder).starts_with(parent))
    }

    /// Adds what is in one folder. The files of a workflow are its own, and no workflow is looked for among them.
    fn collect(&mut self, dir: &Path, within: String) -> std::io::Result<()> {
        let entries = std::fs::read_dir(dir)?;
        if folder::is_workflow(dir) {
            let name = match within.is_empty() {
                true => ITSELF.to_owned(),
                false => within,
            };
            self.folders.insert(name, found(dir));
            return Ok(());
        }
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.starts_with('.') || name == PACKAGES {
                continue;
            }
            let path = entry.path();
            // A link to a workflow is as good as its folder; others may lead in circles.
            let is_dir = match entry.file_type()? {
                kind if kind.is_symlink() => folder::is_workflow(&path),
                kind => kind.is_dir(),
            };
            // A node's data are large, and nobody's workflows.
            if is_dir && !DataDir::is_at(&path) {
                self.enter(&path, below(&within, &name));
            }
        }
        Ok(())
    }

    fn enter(&mut self, dir: &Path, within: String) {
        if let Err(error) = self.collect(dir, within.clone()) {
            self.unreadable.insert(within, error.to_string());
        }
    }
}

/// The path of a folder that a look found.
pub(super) fn path(root: &Path, folder: &str) -> PathBuf {
    match folder {
        ITSELF => root.to_owned(),
        folder => root.join(folder),
    }
}

fn below(within: &str, name: &str) -> String {
    match within.is_empty() {
        true => name.to_owned(),
        false => format!("{within}/{name}"),
    }
}

fn found(dir: &Path) -> Found {
    Found {
        stamps: folder::stamps(dir).unwrap_or_default(),
        state: std::fs::read_to_string(dir.join(STATE_FILE)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn workflow(dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("workflow.yaml"), "name: A\n").unwrap();
    }

    fn names(root: &Path) -> Vec<String> {
        Look::at(root).unwrap().folders.into_keys().collect()
    }

    #[test]
    fn workflows_are_found_at_any_depth_and_none_within_another() {
        let root = tempfile::tempdir().unwrap();
        let (root, outside) = (root.path(), tempfile::tempdir().unwrap());
        for folder in ["b", "a/c", "a/c/inner", ".git/d", "node_modules/e", "a/.f"] {
            workflow(&root.join(folder));
        }
        workflow(&outside.path().join("linked"));
        symlink(outside.path().join("linked"), root.join("z")).unwrap();
        symlink(root, root.join("circle")).unwrap();
        fs::write(root.join("README.md"), "").unwrap();
        workflow(&root.join("data/files/g"));
        fs::write(root.join("data/headwater.db"), "").unwrap();
        assert_eq!(names(root), ["a/c", "b", "z"]);
        workflow(root);
        assert_eq!(names(root), [ITSELF]);
        assert_eq!(path(root, ITSELF), root);
    }

    #[test]
    fn a_save_and_a_new_state_are_seen() {
        let root = tempfile::tempdir().unwrap();
        workflow(&root.path().join("a"));
        let former = Look::at(root.path()).unwrap();
        assert_eq!(Look::at(root.path()).unwrap(), former);
        fs::write(root.path().join("a/entry.js"), "1").unwrap();
        let saved = Look::at(root.path()).unwrap();
        assert_ne!(saved, former);
        fs::write(root.path().join("a/.workflow.state"), "id: p_1").unwrap();
        assert_ne!(Look::at(root.path()).unwrap(), saved);
    }

    #[test]
    fn a_folder_that_cannot_be_read_hides_what_was_in_it() {
        let look = Look {
            unreadable: BTreeMap::from([("a/b".to_owned(), "denied".to_owned())]),
            ..Look::default()
        };
        assert!(look.may_hide("a/b/c") && look.may_hide("a/b"));
        assert!(!look.may_hide("a/bc") && !look.may_hide("a"));
        let root = tempfile::tempdir().unwrap();
        assert!(Look::at(&root.path().join("missing")).is_err());
    }
}
