//! The age of cached registry answers, and the releases that packages resolved to with them. Deno caches answers for
//! ever; a node that runs for months must not resolve against those of its first day.

use std::{collections::HashMap, io, path::Path, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::resolved::Resolved;

/// The maximum age of a registry answer when a range is resolved.
const FRESH: Duration = Duration::from_secs(600);
/// HOST/@SCOPE/NAME/registry.json, where a host's folder may be a path of its own.
const DEPTH_MAX: usize = 6;
/// Resolutions that are kept; some take 100 KiB.
const RESOLUTIONS_MAX: usize = 100;

/// The registry's answers in Deno's cache.
#[derive(Debug, Default)]
pub(super) struct RegistryAnswers {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The beginning of the last time that they were dropped.
    dropped_at: Option<Instant>,
    /// The end of it: later answers are no older.
    fresh_since: Option<Instant>,
    /// Resolutions and their beginnings, by the import maps of their builds.
    resolutions: HashMap<String, (Instant, Arc<Resolved>)>,
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
        self.state.lock().fresh_since = Some(Instant::now());
    }

    /// Marks all answers as old.
    pub(super) fn expire(&self) {
        *self.state.lock() = State::default();
    }

    /// The releases that the packages of this import map resolved to with the present answers.
    pub(super) fn known(&self, import_map: &str) -> Option<Arc<Resolved>> {
        let state = self.state.lock();
        let (began, resolved) = state.resolutions.get(import_map)?;
        (Some(*began) >= state.fresh_since && state.fresh_since.is_some())
            .then(|| Arc::clone(resolved))
    }

    /// Remembers a resolution that began at that moment.
    pub(super) fn remember(&self, import_map: String, began: Instant, resolved: Arc<Resolved>) {
        let resolutions = &mut self.state.lock().resolutions;
        if resolutions.len() >= RESOLUTIONS_MAX {
            resolutions.clear();
        }
        resolutions.insert(import_map, (began, resolved));
    }

    fn is_due(&self) -> bool {
        let mut state = self.state.lock();
        let due = state.dropped_at.is_none_or(|at| at.elapsed() >= FRESH);
        if due {
            *state = State {
                dropped_at: Some(Instant::now()),
                ..State::default()
            };
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
    use std::{fs, sync::Arc};

    use tokio::time::{Instant, advance};

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

    #[tokio::test(start_paused = true)]
    async fn what_packages_resolved_to_is_as_old_as_the_answers_at_most() {
        let deno_dir = tempfile::tempdir().unwrap();
        let answers = RegistryAnswers::default();
        answers.drop_stale(deno_dir.path()).await;
        let late = Instant::now();
        answers.remember("a".into(), late, Arc::default());
        assert!(answers.known("a").is_some() && answers.known("b").is_none());
        advance(FRESH).await;
        answers.drop_stale(deno_dir.path()).await;
        assert!(answers.known("a").is_none());
        // A resolution that began with the former answers.
        answers.remember("a".into(), late, Arc::default());
        assert!(answers.known("a").is_none());
        answers.remember("a".into(), Instant::now(), Arc::default());
        assert!(answers.known("a").is_some());
        answers.expire();
        assert!(answers.known("a").is_none());
    }
}
