//! The age of cached registry answers. Deno caches them for ever; a node that runs for months must not resolve
//! against those of its first day.

use std::{io, path::Path, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

/// The maximum age of a registry answer when a range is resolved.
const FRESH: Duration = Duration::from_secs(600);
/// HOST/@SCOPE/NAME/registry.json, where a host's folder may be a path of its own.
const DEPTH_MAX: usize = 6;

/// The registry's answers in Deno's cache.
#[derive(Debug, Default)]
pub(super) struct RegistryAnswers {
    dropped_at: Mutex<Option<Instant>>,
}

impl RegistryAnswers {
    /// Drops the answers from the cache unless that was done a short while ago. Downloaded releases stay.
    pub(super) async fn drop_stale(&self, deno_dir: &Path) {
        if !self.is_due() {
            return;
        }
        let folder = deno_dir.join("npm");
        let dropped = tokio::task::spawn_blocking(move || drop_answers(&folder)).await;
        if let Ok(Err(error)) = dropped {
            tracing::debug!(%error, "could not drop the registry's cached answers");
        }
    }

    /// Marks all answers as old.
    pub(super) fn expire(&self) {
        *self.dropped_at.lock() = None;
    }

    fn is_due(&self) -> bool {
        let mut dropped_at = self.dropped_at.lock();
        let due = dropped_at.is_none_or(|at| at.elapsed() >= FRESH);
        if due {
            *dropped_at = Some(Instant::now());
        }
        due
    }
}

/// Removes every package's `registry.json`, which lists its releases.
fn drop_answers(folder: &Path) -> io::Result<()> {
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let answer = folder.join("registry.json");
        if answer.is_file() {
            std::fs::remove_file(answer)?;
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        let inner = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(
            inner
                .filter(|_| depth < DEPTH_MAX)
                .map(|entry| (entry.path(), depth + 1)),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FRESH, RegistryAnswers};

    #[tokio::test(start_paused = true)]
    async fn answers_are_dropped_when_they_are_old_and_releases_never() {
        let deno_dir = tempfile::tempdir().unwrap();
        let package = deno_dir.path().join("npm/host/@scope/name");
        let (answer, release) = (
            package.join("registry.json"),
            package.join("1.0.0/index.js"),
        );
        fs::create_dir_all(release.parent().unwrap()).unwrap();
        fs::write(&release, "").unwrap();
        let answers = RegistryAnswers::default();
        for (elapsed, kept) in [(FRESH, false), (FRESH / 2, true), (FRESH / 2, false)] {
            fs::write(&answer, "{}").unwrap();
            tokio::time::advance(elapsed).await;
            answers.drop_stale(deno_dir.path()).await;
            assert_eq!(answer.exists(), kept);
            assert!(release.exists());
        }
    }
}
