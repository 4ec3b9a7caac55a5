//! Waiting for a file of a workflow's folder to be saved, to come or to go. The ids are left out: deployments write
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::super::dev::WATCH_PERIOD;
use crate::stamp::Stamp;
use crate::workflow::folder;

pub(super) struct FolderWatch {
    dir: PathBuf,
    seen: BTreeMap<String, Stamp>,
}

impl FolderWatch {
    pub(super) fn new(dir: &Path) -> Self {
        let mut watch = Self {
            dir: dir.to_owned(),
            seen: BTreeMap::new(),
        };
        watch.look();
        watch
    }

    /// Takes the files as they are now for known.
    pub(super) fn look(&mut self) {
        self.seen = self.stamps();
    }

    /// Waits until a file differs from when it was looked at, and is written no more.
    pub(super) async fn changed(&mut self) {
        loop {
            tokio::time::sleep(WATCH_PERIOD).await;
            let now = self.stamps();
            if now == self.seen {
                continue;
            }
            tokio::time::sleep(WATCH_PERIOD).await;
            // A definition that is not there is about to be put in its place.
            if !now.is_empty() && self.stamps() == now {
                return;
            }
        }
    }

    fn stamps(&self) -> BTreeMap<String, Stamp> {
        folder::stamps(&self.dir).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::workflow::folder::STATE_FILE;

    #[tokio::test]
    async fn saves_count_and_ids_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("workflow.yaml"), "name: A").unwrap();
        let mut watch = FolderWatch::new(folder.path());
        std::fs::write(file(STATE_FILE), "ids").unwrap();
        assert_eq!(watch.stamps(), watch.seen);
        std::fs::write(file("entry.js"), "1").unwrap();
        tokio::time::timeout(Duration::from_secs(60), watch.changed())
            .await
            .unwrap();
        watch.look();
        std::fs::remove_file(file("entry.js")).unwrap();
        tokio::time::timeout(Duration::from_secs(60), watch.changed())
            .await
            .unwrap();
    }
}
