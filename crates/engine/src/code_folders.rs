//! The folders in which the code of components is kept and run: whether they can be written.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tokio::sync::Mutex;

use crate::api::EngineError;

/// More than a file system keeps beside the names of files.
const TRIED_BYTES: usize = 64 * 1024;
/// Between two tries the former answer counts, so that strangers cause no load.
const TRIED_EVERY: Duration = Duration::from_secs(1);

/// The folders of an engine.
pub(crate) struct CodeFolders {
    folders: [PathBuf; 2],
    last: Mutex<Option<(Instant, Option<String>)>>,
}

impl CodeFolders {
    /// Those for unpacked code and for workers.
    pub(crate) fn new(cache_dir: PathBuf, work_dir: PathBuf) -> Self {
        Self {
            folders: [cache_dir, work_dir],
            last: Mutex::new(None),
        }
    }

    /// Writes a file into each, which is gone at once, unless that was tried just now.
    pub(crate) async fn check(&self) -> Result<(), EngineError> {
        let mut last = self.last.lock().await;
        let known = last
            .as_ref()
            .filter(|(at, _)| at.elapsed() < TRIED_EVERY)
            .map(|(_, failure)| failure.clone());
        let failure = match known {
            Some(failure) => failure,
            None => {
                let folders = self.folders.clone();
                let tried = tokio::task::spawn_blocking(move || failure_in(&folders));
                let failure = tried.await.unwrap_or_else(|error| Some(error.to_string()));
                *last = Some((Instant::now(), failure.clone()));
                failure
            }
        };
        match failure {
            None => Ok(()),
            Some(reason) => Err(EngineError::Unavailable {
                context: "writing the folder for components' code".into(),
                reason,
            }),
        }
    }
}

fn failure_in(folders: &[PathBuf]) -> Option<String> {
    let failures = folders.iter().map(|folder| (folder, try_writing(folder)));
    let mut failures = failures.filter_map(|(folder, tried)| Some((folder, tried.err()?)));
    failures
        .next()
        .map(|(folder, error)| format!("{}: {error}", folder.display()))
}

fn try_writing(folder: &Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&[b'x'; TRIED_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().to_owned();
        assert!(
            CodeFolders::new(there.clone(), there.clone())
                .check()
                .await
                .is_ok()
        );
        let gone = there.join("gone");
        let refused = CodeFolders::new(there, gone).check().await.unwrap_err();
        assert!(refused.to_string().contains("gone"), "{refused}");
    }
}
