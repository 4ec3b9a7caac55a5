//! The bundler that Deno runs, esbuild: pinned like Deno, and placed where Deno looks for it, so that Deno never
//! fetches one by itself. Not responsible for running it.
//!
//! Deno is the client that fetches it: it is there whenever the bundler is needed, and it honours the
//! user's npm settings. The bytes count only once their digest is the pinned one.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{process::Command, sync::Mutex};

use super::{
    cache_files::{on_disk, unavailable},
    failed_tries::FailedTries,
    install::{make_executable, verify},
    process::{end_of, piped},
    release::{BUNDLER_FOLDER, BUNDLER_VERSION, Release},
    trial::Trial,
};
use crate::{api::EngineError, confine::Confinement, host_failure};

/// The time that fetching may take: the package is about 4 MB.
const FETCH_TIMEOUT: Duration = Duration::from_secs(180);
/// Folders above a package in Deno's cache: a registry's host, and those of its path.
const DEPTH_MAX: usize = 8;
/// The permissions of a folder that every user may enter.
const OPEN: u32 = 0o755;

/// The origin of the bundler.
#[derive(Debug, Clone)]
pub struct BundlerSource {
    /// Deno, as [`super::locate`] found it.
    pub deno: PathBuf,
    /// The folder of Deno's cache that may have the bundler already; `headwater runtime install` puts it there.
    pub kept_in: Option<PathBuf>,
    /// Environment variables for the registry client.
    pub registry_env: Vec<(OsString, OsString)>,
}

/// The bundler of one cache folder of Deno's (`DENO_DIR`).
#[derive(Debug)]
pub struct Bundler {
    source: BundlerSource,
    deno_dir: PathBuf,
    /// Confines the trial.
    confinement: Option<Arc<Confinement>>,
    /// The file that was verified last.
    verified: Mutex<Option<Identity>>,
    failed: FailedTries,
    /// Whether the last try to obtain it failed.
    is_missing: AtomicBool,
}

/// Facts that change when a file does.
#[derive(Debug, PartialEq, Eq)]
struct Identity([i64; 5]);

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let file = fs::symlink_metadata(path)
            .ok()
            .filter(fs::Metadata::is_file)?;
        let (device, inode) = (file.dev().cast_signed(), file.ino().cast_signed());
        let size = file.size().cast_signed();
        Some(Self([device, inode, size, file.ctime(), file.ctime_nsec()]))
    }
}

impl Bundler {
    /// The bundler for Deno's cache in `deno_dir`, which need not be there yet.
    pub fn new(source: BundlerSource, deno_dir: PathBuf) -> Self {
        Self {
            source,
            deno_dir,
            confinement: None,
            verified: Mutex::new(None),
            failed: FailedTries::default(),
            is_missing: AtomicBool::new(false),
        }
    }

    /// The same, with trials confined like any step of a build.
    pub(crate) fn confined(self, confinement: Arc<Confinement>) -> Self {
        Self {
            confinement: Some(confinement),
            ..self
        }
    }

    /// Whether the last try to obtain it failed; while it is being fetched, builds wait.
    pub fn is_missing(&self) -> bool {
        self.is_missing.load(Ordering::Relaxed)
    }

    /// The binary, which is the pinned one and where Deno finds it; fetched first if need be. Concurrent
    /// callers wait for the one that prepares it, and fail with it.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], with the next step, when it is unavailable, or has another digest.
    pub async fn ready(&self) -> Result<PathBuf, EngineError> {
        let release = Release::of_this_machine()?;
        let path = place(&self.deno_dir, &release);
        let seen = self.failed.count();
        let mut verified = self.verified.lock().await;
        if verified.is_some() && *verified == Identity::of(&path) {
            return Ok(path);
        }
        self.failed.since(seen)?;
        *verified = None;
        let prepared = self.prepare(&path, &release).await;
        self.is_missing.store(prepared.is_err(), Ordering::Relaxed);
        prepared.inspect_err(|error| self.failed.add(error))?;
        *verified = Identity::of(&path);
        Ok(path)
    }

    async fn prepare(&self, path: &Path, release: &Release) -> Result<(), EngineError> {
        if path.exists() {
            match verify(path.to_owned(), release.bundler_sha256).await {
                Ok(()) => return self.is_found().await,
                Err(reason) => {
                    tracing::warn!(reason, "the bundler in the cache is not the pinned one")
                }
            }
        }
        let (folder, deno_dir) = (folder_of(path), self.deno_dir.clone());
        let staging = on_disk(&self.deno_dir, move || {
            fs::create_dir_all(folder)?;
            tempfile::Builder::new()
                .prefix("fetch-")
                .tempdir_in(deno_dir)
        })
        .await?;
        let binary = staging.path().join("bundler");
        if !self.copied(&binary, release).await? {
            let fetched = self.fetch(staging.path(), release).await?;
            verify(fetched.clone(), release.bundler_sha256)
                .await
                .map_err(|reason| another(&reason))?;
            let binary = binary.clone();
            on_disk(&self.deno_dir, move || fs::rename(fetched, binary)).await?;
        }
        let path = path.to_owned();
        on_disk(&self.deno_dir, move || {
            make_executable(&binary)?;
            fs::rename(&binary, path)?;
            staging.close()
        })
        .await?;
        tracing::info!("the bundler, esbuild {BUNDLER_VERSION}, is in place");
        self.is_found().await
    }

    /// Copies the bundler that was installed before, if it is there and the pinned one.
    async fn copied(&self, to: &Path, release: &Release) -> Result<bool, EngineError> {
        let kept = self.source.kept_in.as_deref();
        let Some(kept) = kept.map(|folder| place(folder, release)) else {
            return Ok(false);
        };
        let copy = to.to_owned();
        let is_copied = on_disk(&self.deno_dir, move || {
            let is_there = kept.is_file();
            if is_there {
                fs::copy(kept, copy)?;
            }
            Ok(is_there)
        })
        .await?;
        Ok(is_copied && verify(to.to_owned(), release.bundler_sha256).await.is_ok())
    }

    /// Has Deno download the package into `staging`, and returns the binary's path.
    async fn fetch(&self, staging: &Path, release: &Release) -> Result<PathBuf, EngineError> {
        let package = format!("@esbuild/{}", release.bundler_platform);
        tracing::info!("fetching the bundler, esbuild {BUNDLER_VERSION} (about 4 MB, once) …");
        let mut command = Command::new(&self.source.deno);
        piped(&mut command)
            .env_clear()
            .env("DENO_DIR", staging)
            .env("DENO_TLS_CA_STORE", "mozilla,system")
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1")
            .current_dir(staging)
            .args(["cache", "--quiet", "--no-config", "--no-lock"])
            .arg(format!("npm:{package}@{BUNDLER_VERSION}"))
            .envs(self.source.registry_env.iter().cloned());
        let told = stderr_of(command).await?;
        let inside = format!("{package}/{BUNDLER_VERSION}/bin/esbuild");
        let downloaded = staging.join("npm");
        let found = on_disk(&self.deno_dir, move || {
            Ok(find(&downloaded, &inside, DEPTH_MAX))
        });
        found.await?.ok_or_else(|| {
            tracing::warn!(told, "the bundler could not be fetched");
            let told = told.lines().next().unwrap_or_default();
            let told = told.trim().trim_start_matches("error: ");
            unavailable(&format!(
                "the package registry did not give `{package}@{BUNDLER_VERSION}`: {told}"
            ))
        })
    }

    /// Makes the bundler accessible for every user, and checks that Deno uses it from its cache.
    async fn is_found(&self) -> Result<(), EngineError> {
        let folder = self.deno_dir.join(BUNDLER_FOLDER);
        on_disk(&self.deno_dir, move || open_to_all(&folder)).await?;
        let trial = Trial {
            deno: self.source.deno.clone(),
            deno_dir: self.deno_dir.clone(),
            confinement: self.confinement.clone(),
        };
        trial.run().await
    }
}

/// The command's standard error; empty when it succeeds.
async fn stderr_of(mut command: Command) -> Result<String, EngineError> {
    let failed = |error: io::Error| EngineError::Spawn(format!("Deno: {error}"));
    let child = command.spawn().map_err(failed)?;
    let ended = end_of(child, FETCH_TIMEOUT).await.map_err(failed)?;
    let ended = ended.ok_or_else(|| {
        let seconds = FETCH_TIMEOUT.as_secs();
        unavailable(&format!("no end after {seconds} s"))
    })?;
    if ended.status.success() {
        return Ok(String::new());
    }
    // A failure of the machine is reported as one. The package's name is also that of the bundler.
    match host_failure::detect(&ended.stderr.replace("esbuild", "")) {
        Some(reason) => {
            tracing::warn!(told = ended.stderr, "getting the bundler failed");
            Err(unavailable(reason))
        }
        None => Ok(ended.stderr),
    }
}

/// Makes a folder and its subfolders readable for every user, whatever the node's umask: build steps run as another
/// user when the node is root.
fn open_to_all(folder: &Path) -> io::Result<()> {
    if folder.metadata()?.permissions().mode() & OPEN != OPEN {
        fs::set_permissions(folder, fs::Permissions::from_mode(OPEN))?;
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_to_all(&entry.path())?;
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

/// The place where Deno looks for the bundler.
fn place(deno_dir: &Path, release: &Release) -> PathBuf {
    deno_dir
        .join(BUNDLER_FOLDER)
        .join(format!("esbuild-{BUNDLER_VERSION}-1"))
        .join(format!("esbuild-{}", release.bundler_platform))
}

/// The file called `inside` below `folder`, at most so many folders deep.
fn find(folder: &Path, inside: &str, depth: usize) -> Option<PathBuf> {
    let here = folder.join(inside);
    if here.is_file() {
        return Some(here);
    }
    let folders = fs::read_dir(folder).ok()?.flatten();
    folders
        .filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .find_map(|entry| find(&entry.path(), inside, depth - 1))
}

fn another(reason: &str) -> EngineError {
    unavailable(&format!(
        "the package registry gave another file than the pinned one ({reason}); it was not taken. \
         Check which registry the npm settings name (NPM_CONFIG_REGISTRY, .npmrc)"
    ))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::open_to_all;

    #[test]
    fn whoever_runs_steps_reaches_a_bundler_that_was_placed_for_its_owner_alone() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("dl/esbuild-1");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("esbuild"), "").unwrap();
        let outer = cache.path().join("dl");
        for folder in [&outer, &folder] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        open_to_all(&outer).unwrap();
        for folder in [&outer, &folder] {
            let mode = fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o755, "{}", folder.display());
        }
    }
}
