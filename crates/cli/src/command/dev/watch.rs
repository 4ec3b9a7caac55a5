//! Waiting for files to be saved. They are looked at many times a second: a component has few files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::reference;
use crate::stamp::{Stamp, stamp};

pub(in crate::command) const PERIOD: Duration = Duration::from_millis(50);

pub(super) struct Watch {
    file: PathBuf,
    /// The component's files as far as they are known.
    files: BTreeSet<PathBuf>,
    /// Whether some may be missing from that: then everything that could be one counts.
    guess: bool,
    seen: BTreeMap<PathBuf, Stamp>,
}

impl Watch {
    pub(super) fn new(file: &Path) -> Self {
        let mut watch = Self {
            file: file.to_owned(),
            files: BTreeSet::from([file.to_owned()]),
            guess: false,
            seen: BTreeMap::new(),
        };
        watch.look();
        watch
    }

    /// From now on these files count; `None` when it is not known which they are.
    pub(super) fn follow(&mut self, files: Option<&[PathBuf]>) {
        self.guess = files.is_none();
        if let Some(files) = files {
            self.files = files.iter().cloned().collect();
            self.files.insert(self.file.clone());
        }
        // The states from before they were read stay: a save in between is a change.
        let mut now = self.stamps();
        for (file, stamp) in &mut now {
            if let Some(seen) = self.seen.get(file) {
                *stamp = *seen;
            }
        }
        self.seen = now;
    }

    /// Takes the files as they are now for known.
    pub(super) fn look(&mut self) {
        self.seen = self.stamps();
    }

    /// Waits until a file differs from when it was looked at, and is written no more.
    pub(super) async fn changed(&mut self) {
        loop {
            tokio::time::sleep(PERIOD).await;
            let now = self.stamps();
            if now == self.seen {
                continue;
            }
            tokio::time::sleep(PERIOD).await;
            // A file that is not there is about to be put in its place.
            if self.stamps() == now && now.get(&self.file).copied().flatten().is_some() {
                return;
            }
        }
    }

    fn stamps(&self) -> BTreeMap<PathBuf, Stamp> {
        let beside: Vec<_> = match self.guess {
            true => self.folders().into_iter().flat_map(modules).collect(),
            false => Vec::new(),
        };
        let files = self.files.iter().cloned().chain(beside);
        files.map(|file| (file.clone(), stamp(&file))).collect()
    }

    fn folders(&self) -> BTreeSet<&Path> {
        self.files.iter().filter_map(|file| file.parent()).collect()
    }
}

/// The files of a folder that could be imported.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| reference::is_module(path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_save_after_the_look_is_a_change_even_when_the_files_become_known_later() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.mjs");
        std::fs::write(&file, "1").unwrap();
        let mut watch = Watch::new(&file);
        std::fs::write(&file, "22").unwrap();
        watch.follow(Some(std::slice::from_ref(&file)));
        watch.changed().await;
    }

    #[tokio::test]
    async fn a_file_that_appears_is_a_change_while_the_files_are_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.mjs");
        std::fs::write(&file, "import './b.json'").unwrap();
        let mut watch = Watch::new(&file);
        watch.follow(None);
        std::fs::write(folder.path().join("b.json"), "1").unwrap();
        watch.changed().await;
    }
}
