//! The ids that things got here, by their ids there: kept in the data folder, by service and node, so that an import
//! goes on where a former one ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::origin::Origin;
use crate::client::Client;

const FOLDER: &str = "imports";

pub(super) struct Remembered {
    path: PathBuf,
    entries: Entries,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Entries {
    /// The two sides, for people who look at the file.
    from: String,
    into: String,
    /// Ids here by ids there.
    ids: BTreeMap<String, String>,
    /// Sources and webhooks here that are to be switched off yet, as they are there.
    to_switch_off: BTreeSet<String>,
}

impl Remembered {
    pub(super) async fn open(data_dir: &Path, origin: &Origin, target: &Client) -> Result<Self> {
        let side = |url: &str, workspace: Option<&str>| match workspace {
            Some(workspace) => format!("{url} {workspace}"),
            None => url.to_owned(),
        };
        let from = side(origin.shown(), origin.workspace());
        let into = side(target.base().as_str(), target.workspace_id().await?);
        let digest = hex::encode(Sha256::digest(format!("{from}\n{into}")));
        let path = data_dir
            .join(FOLDER)
            .join(format!("{}.json", &digest[..16]));
        let entries = read(&path)?;
        Ok(Self {
            path,
            entries: Entries {
                from,
                into,
                ..entries
            },
        })
    }

    pub(super) fn id(&self, there: &str) -> Option<&str> {
        self.entries.ids.get(there).map(String::as_str)
    }

    /// Whether something here came over already.
    pub(super) fn is_taken(&self, here: &str) -> bool {
        self.entries.ids.values().any(|id| id == here)
    }

    pub(super) fn is_to_switch_off(&self, here: &str) -> bool {
        self.entries.to_switch_off.contains(here)
    }

    pub(super) fn keep(&mut self, there: &str, here: &str) -> Result<()> {
        self.entries.ids.insert(there.to_owned(), here.to_owned());
        self.write()
    }

    /// Keeps something that is to be switched off before it has come over as a whole.
    pub(super) fn keep_to_switch_off(&mut self, there: &str, here: &str) -> Result<()> {
        self.entries.to_switch_off.insert(here.to_owned());
        self.keep(there, here)
    }

    pub(super) fn switched_off(&mut self, here: &str) -> Result<()> {
        self.entries.to_switch_off.remove(here);
        self.write()
    }

    /// Forgets something that was deleted here.
    pub(super) fn forget(&mut self, there: &str) -> Result<()> {
        if let Some(here) = self.entries.ids.remove(there) {
            self.entries.to_switch_off.remove(&here);
        }
        self.write()
    }

    /// Replaces the file as a whole: half a file would forget everything.
    fn write(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.entries)?;
        let unwritable = || format!("cannot write {}", self.path.display());
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).with_context(unwritable)?;
        }
        let new = self.path.with_extension("json.new");
        std::fs::write(&new, format!("{text}\n")).with_context(unwritable)?;
        std::fs::rename(&new, &self.path).with_context(unwritable)
    }
}

fn read(path: &Path) -> Result<Entries> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| {
            format!(
                "{} was not written by `headwater import`; delete it to import everything anew",
                path.display()
            )
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Entries::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
