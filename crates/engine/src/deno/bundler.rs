//! The bundler that Deno runs, esbuild: pinned as Deno is, and put where Deno looks for it, so that Deno
//! never fetches one by itself. Not responsible for running it.
//!
//! Deno is the client that fetches it: it is there whenever the bundler is needed, and it honours the
//! user's npm settings. The bytes count only once their digest is the pinned one.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{process::Command, sync::Mutex};

use super::{
    install::{make_executable, verify},
    release::{BUNDLER_VERSION, Release},
};
use crate::{api::EngineError, host_failure};

/// How long fetching may take: the package is about 4 MB.
const FETCH_TIMEOUT: Duration = Duration::from_secs(180);
/// How long Deno may take to find the bundler.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(60);
/// Folders above a package in Deno's cache: a registry's host, and those of its path.
const DEPTH_MAX: usize = 8;
/// An address that nobody answers at: what goes to this proxy goes nowhere.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Where the bundler comes from.
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
    /// The file that was verified last.
    verified: Mutex<Option<Identity>>,
    /// Whether the last try to get it failed.
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
            verified: Mutex::new(None),
            is_missing: AtomicBool::new(false),
        }
    }

    /// Whether the last try to get it failed; while it is being fetched, builds wait.
    pub fn is_missing(&self) -> bool {
        self.is_missing.load(Ordering::Relaxed)
    }

    /// The binary, which is the pinned one and where Deno finds it; fetched first if need be. Whoever asks
    /// while somebody else prepares it waits for that.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], saying what to do, when it cannot be had, or what can be had is another.
    pub async fn ready(&self) -> Result<PathBuf, EngineError> {
        let release = Release::of_this_machine()?;
        let path = place(&self.deno_dir, &release);
        let mut verified = self.verified.lock().await;
        if verified.is_some() && *verified == Identity::of(&path) {
            return Ok(path);
        }
        *verified = None;
        let prepared = self.prepare(&path, &release).await;
        self.is_missing.store(prepared.is_err(), Ordering::Relaxed);
        prepared?;
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
        let folder = path.parent().unwrap_or(path);
        let failed = |error: io::Error| unusable(folder, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let staging = tempfile::Builder::new()
            .prefix("fetch-")
            .tempdir_in(&self.deno_dir)
            .map_err(failed)?;
        let binary = staging.path().join("bundler");
        if !self.copied(&binary, release).await.map_err(failed)? {
            let fetched = self.fetch(staging.path(), release).await?;
            verify(fetched.clone(), release.bundler_sha256)
                .await
                .map_err(|reason| another(&reason))?;
            fs::rename(fetched, &binary).map_err(failed)?;
        }
        make_executable(&binary).map_err(failed)?;
        fs::rename(&binary, path).map_err(failed)?;
        tracing::info!("the bundler, esbuild {BUNDLER_VERSION}, is in place");
        self.is_found().await
    }

    /// Copies the bundler that was installed before, if it is there and the pinned one.
    async fn copied(&self, to: &Path, release: &Release) -> io::Result<bool> {
        let kept = self.source.kept_in.as_deref();
        let Some(kept) = kept
            .map(|folder| place(folder, release))
            .filter(|kept| kept.is_file())
        else {
            return Ok(false);
        };
        fs::copy(kept, to)?;
        Ok(verify(to.to_owned(), release.bundler_sha256).await.is_ok())
    }

    /// Has Deno download the package into `staging`, and says where the binary is.
    async fn fetch(&self, staging: &Path, release: &Release) -> Result<PathBuf, EngineError> {
        let package = format!("@esbuild/{}", release.bundler_platform);
        tracing::info!("fetching the bundler, esbuild {BUNDLER_VERSION} (about 4 MB, once) …");
        let mut command = self.deno(staging);
        command
            .args(["cache", "--quiet", "--no-config", "--no-lock"])
            .arg(format!("npm:{package}@{BUNDLER_VERSION}"))
            .envs(self.source.registry_env.iter().cloned());
        let told = run(command, FETCH_TIMEOUT).await?;
        let inside = format!("{package}/{BUNDLER_VERSION}/bin/esbuild");
        find(&staging.join("npm"), &inside, DEPTH_MAX).ok_or_else(|| {
            tracing::warn!(told, "the bundler could not be fetched");
            let told = told.lines().next().unwrap_or_default();
            let told = told.trim().trim_start_matches("error: ");
            unavailable(&format!(
                "the package registry did not give `{package}@{BUNDLER_VERSION}`: {told}"
            ))
        })
    }

    /// Whether Deno takes the bundler from its cache: a Deno of another release may want another one, and
    /// must not fetch that.
    async fn is_found(&self) -> Result<(), EngineError> {
        let scratch = tempfile::tempdir_in(&self.deno_dir)
            .map_err(|error| unusable(&self.deno_dir, &error))?;
        fs::write(scratch.path().join("empty.mjs"), "export {};\n")
            .map_err(|error| unusable(&self.deno_dir, &error))?;
        let mut command = self.deno(&self.deno_dir);
        command
            .args(["bundle", "--quiet", "--no-config", "--no-lock", "empty.mjs"])
            .envs(
                ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
                    .map(|name| (name, NOWHERE)),
            )
            .current_dir(scratch.path());
        let told = run(command, TRIAL_TIMEOUT).await?;
        if told.contains("esbuild") {
            return Err(unavailable(&format!(
                "this Deno does not run the pinned one, esbuild {BUNDLER_VERSION}; use Deno {}",
                super::VERSION
            )));
        }
        Ok(())
    }

    fn deno(&self, deno_dir: &Path) -> Command {
        let mut command = Command::new(&self.source.deno);
        command
            .env_clear()
            .env("DENO_DIR", deno_dir)
            .env("DENO_TLS_CA_STORE", "mozilla,system")
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1")
            .current_dir(deno_dir)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// The text of the command on standard error, which is nothing when it succeeds.
async fn run(mut command: Command, timeout: Duration) -> Result<String, EngineError> {
    let output = tokio::time::timeout(timeout, command.output());
    let output = output
        .await
        .map_err(|_| unavailable(&format!("no end after {} s", timeout.as_secs())))?
        .map_err(|error| EngineError::Spawn(format!("Deno: {error}")))?;
    let told = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(String::new()),
        // A failure of the machine is told as one. What the trial tells of the bundler is for its caller.
        false => match host_failure::told_by(&told.replace("esbuild", "")) {
            Some(reason) => {
                tracing::warn!(%told, "getting the bundler failed");
                Err(unavailable(reason))
            }
            None => Ok(told.into_owned()),
        },
    }
}

/// Where Deno looks for the bundler.
fn place(deno_dir: &Path, release: &Release) -> PathBuf {
    deno_dir
        .join("dl")
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

fn unusable(folder: &Path, error: &io::Error) -> EngineError {
    tracing::warn!(folder = %folder.display(), %error, "the bundler cannot be put in place");
    unavailable(&host_failure::in_cache(error))
}

fn another(reason: &str) -> EngineError {
    unavailable(&format!(
        "the package registry gave another file than the pinned one ({reason}); it was not taken. \
         Check which registry the npm settings name (NPM_CONFIG_REGISTRY, .npmrc)"
    ))
}

fn unavailable(reason: &str) -> EngineError {
    EngineError::Unavailable {
        context: "getting the bundler that builds components".into(),
        reason: format!("{reason} (`headwater runtime install` fetches it beforehand)"),
    }
}
