//! The source that a file was deployed as, so that `dev` continues with it after a restart: kept in a
//! small file beside the component, by file, node and workspace.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::client::Client;

const FILE: &str = ".headwater-dev.json";

/// Source ids by component file, then by node.
type Entries = BTreeMap<String, BTreeMap<String, String>>;

pub(super) struct Remembered {
    path: PathBuf,
    component: String,
    node: String,
    source_id: Option<String>,
}

impl Remembered {
    pub(super) async fn open(component: &Path, client: &Client) -> Result<Self> {
        let node = match client.workspace_id().await? {
            Some(workspace) => format!("{} {workspace}", client.base()),
            None => client.base().to_string(),
        };
        Self::of(component, node)
    }

    fn of(component: &Path, node: String) -> Result<Self> {
        let path = component.with_file_name(FILE);
        let component = file_name(component);
        let entries = read(&path)?;
        let source_id = entries.get(&component).and_then(|nodes| nodes.get(&node));
        Ok(Self {
            source_id: source_id.cloned(),
            path,
            component,
            node,
        })
    }

    pub(super) fn source_id(&self) -> Option<&str> {
        self.source_id.as_deref()
    }

    pub(super) fn keep(&mut self, source_id: &str) -> Result<()> {
        self.source_id = Some(source_id.to_owned());
        self.change(|nodes, node| {
            nodes.insert(node, source_id.to_owned());
        })
    }

    pub(super) fn forget(&mut self) -> Result<()> {
        self.source_id = None;
        self.change(|nodes, node| {
            nodes.remove(&node);
        })
    }

    /// Another `dev` may have written since: only the own entry changes.
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, String>, String)) -> Result<()> {
        let mut entries = read(&self.path)?;
        change(
            entries.entry(self.component.clone()).or_default(),
            self.node.clone(),
        );
        entries.retain(|_, nodes| !nodes.is_empty());
        let text = serde_json::to_string_pretty(&entries)?;
        std::fs::write(&self.path, format!("{text}\n"))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The file in the working folder that `dev` deployed as this source.
pub(in crate::command) fn file_of(source_id: &str) -> Option<PathBuf> {
    let entries = read(Path::new(FILE)).ok()?;
    let mut entries = entries.into_iter();
    let found = entries.find(|(_, nodes)| nodes.values().any(|id| id == source_id));
    found.map(|(file, _)| file.into())
}

fn read(path: &Path) -> Result<Entries> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| {
            format!(
                "{} was not written by `headwater dev`; delete it to deploy a new source",
                path.display()
            )
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Entries::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// The name of a file within its folder.
fn file_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_remembered_by_file_and_node() {
        let folder = tempfile::tempdir().unwrap();
        let of = |file: &str, node: &str| {
            Remembered::of(&folder.path().join(file), node.to_owned()).unwrap()
        };
        of("a.mjs", "one").keep("dc_1").unwrap();
        of("a.mjs", "two").keep("dc_2").unwrap();
        assert_eq!(of("a.mjs", "one").source_id(), Some("dc_1"));
        assert_eq!(of("b.mjs", "one").source_id(), None);
        of("a.mjs", "one").forget().unwrap();
        assert_eq!(of("a.mjs", "one").source_id(), None);
        assert_eq!(of("a.mjs", "two").source_id(), Some("dc_2"));
    }
}
