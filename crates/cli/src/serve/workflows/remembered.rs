//! The workflows that folders were deployed as, in a file of the node's data folder: so that a folder that is gone is
//! noticed after a restart too, and ids stay where `.workflow.state` cannot be written or is not kept.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use headwater_model::id::WorkflowId;
use serde::{Deserialize, Serialize};

use super::super::data_dir::write_private;

/// A deployed folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its path below the folder of workflows.
    pub(super) folder: String,
    /// The text of its state file.
    pub(super) state: String,
    #[serde(default)]
    pub(super) standing: Standing,
}

/// The state of a workflow whose folder is deployed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
    /// It is deployed, or is about to be for the first time.
    #[default]
    Deployed,
    /// It is being turned off, or deployed again after that: should the node die now, nobody knows whether it is on.
    Changing,
    /// Its folder is no longer there, and it was turned off.
    Gone,
}

/// The entries of one folder of workflows, by the ids of the workflows.
type Entries = BTreeMap<String, Entry>;

/// All that a node remembers.
pub(super) struct Remembered {
    file: PathBuf,
    root: String,
    /// By the folder of workflows: another one of another start does not mean that the workflows of this are gone.
    roots: BTreeMap<String, Entries>,
}

impl Remembered {
    /// The entries of a folder of workflows.
    pub(super) fn open(file: PathBuf, root: &Path) -> Result<Self> {
        let shown = file.display();
        let roots = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).with_context(|| {
                format!(
                    "cannot read {shown}; take it from a backup, or delete it if each folder of --workflows has its \
                     .workflow.state"
                )
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
        };
        Ok(Self {
            root: root.display().to_string(),
            file,
            roots,
        })
    }

    /// Every workflow, deployed or gone.
    pub(super) fn entries(&self) -> impl Iterator<Item = (WorkflowId, &Entry)> {
        let entries = self.roots.get(&self.root).into_iter().flatten();
        entries.filter_map(|(id, entry)| Some((id.parse().ok()?, entry)))
    }

    pub(super) fn get(&self, id: &WorkflowId) -> Option<&Entry> {
        self.roots.get(&self.root)?.get(id.as_str())
    }

    /// The last workflow of a folder.
    pub(super) fn at(&self, folder: &str) -> Option<(WorkflowId, &Entry)> {
        let mut there = self.entries().filter(|(_, entry)| entry.folder == folder);
        let last = there.next()?;
        Some(there.fold(last, |last, next| match last.1.standing {
            Standing::Gone => next,
            Standing::Deployed | Standing::Changing => last,
        }))
    }

    /// Keeps a workflow, on disk when it returns.
    pub(super) fn keep(&mut self, id: &WorkflowId, entry: Entry) -> Result<()> {
        let entries = self.roots.entry(self.root.clone()).or_default();
        if entries.get(id.as_str()) == Some(&entry) {
            return Ok(());
        }
        entries.insert(id.to_string(), entry);
        self.write()
    }

    /// Keeps where a workflow stands, if it is remembered, on disk when it returns.
    pub(super) fn stands(&mut self, id: &WorkflowId, standing: Standing) -> Result<()> {
        let Some(entry) = self.get(id).cloned() else {
            return Ok(());
        };
        self.keep(id, Entry { standing, ..entry })
    }

    fn write(&self) -> Result<()> {
        write_private(&self.file, &serde_json::to_string_pretty(&self.roots)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(folder: &str) -> Entry {
        Entry {
            folder: folder.to_owned(),
            state: "state".to_owned(),
            standing: Standing::Deployed,
        }
    }

    #[test]
    fn workflows_are_remembered_by_the_folder_that_they_are_below() {
        let dir = tempfile::tempdir().unwrap();
        let open = |root| Remembered::open(dir.path().join("kept.json"), Path::new(root)).unwrap();
        let [first, second]: [WorkflowId; 2] =
            ["p_abcdefg", "p_bcdefgh"].map(|id| id.parse().unwrap());
        let mut remembered = open("/a");
        remembered.keep(&first, entry("orders")).unwrap();
        remembered.stands(&first, Standing::Gone).unwrap();
        assert_eq!(remembered.at("orders").unwrap().0, first);
        remembered.keep(&second, entry("orders")).unwrap();
        let remembered = open("/a");
        assert_eq!(remembered.at("orders").unwrap().0, second);
        assert_eq!(remembered.get(&first).unwrap().standing, Standing::Gone);
        assert_eq!(remembered.entries().count(), 2);
        assert_eq!(open("/b").entries().count(), 0);
    }
}
