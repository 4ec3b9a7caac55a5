//! Deno in the user's cache folder: fetched by npm or pip, checked against the pinned digest, and
//! moved into place by one rename, so that two nodes starting at once do each other no harm.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use sha2::{Digest, Sha256};
use tokio::process::Command;

use super::{
    release::{Release, VERSION},
    search::{DenoSearch, candidates},
};
use crate::api::EngineError;

/// The time that a package client may take: the binary is about 40 MB to download.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(900);
/// The bytes of a failing client's output that are shown.
const SHOWN_BYTES: usize = 1500;

/// A package client and how to have it put Deno below a folder.
struct Client {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// The binary's place then.
    binary: PathBuf,
}

/// The path of the pinned Deno in the cache, installed first if need be.
pub(super) async fn cached(
    search: &DenoSearch,
    release: &Release,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<PathBuf, EngineError> {
    let folder = search.cache_dir.join(format!("deno-{VERSION}"));
    let path = folder.join("deno");
    // Only verified files are ever renamed to this path.
    if path.is_file() {
        return Ok(path);
    }
    fs::create_dir_all(&folder).map_err(|error| spawn_error(&folder, &error))?;
    let staging = tempfile::Builder::new()
        .prefix("install-")
        .tempdir_in(&folder)
        .map_err(|error| spawn_error(&folder, &error))?;
    let fetched = fetch(search, release, staging.path(), progress).await?;
    verify(fetched.clone(), release.sha256)
        .await
        .map_err(|reason| {
            EngineError::Spawn(format!(
                "the Deno that was fetched is not the pinned one ({reason}); it was not installed"
            ))
        })?;
    make_executable(&fetched).map_err(|error| spawn_error(&fetched, &error))?;
    fs::rename(&fetched, &path).map_err(|error| spawn_error(&path, &error))?;
    tracing::info!(path = %path.display(), "installed Deno {VERSION}");
    Ok(path)
}

/// Has the clients at hand fetch Deno, one after the other until one does.
async fn fetch(
    search: &DenoSearch,
    release: &Release,
    staging: &Path,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<PathBuf, EngineError> {
    let mut failures = Vec::new();
    for client in clients(search, release, staging) {
        let message = format!(
            "Installing Deno {VERSION} with {} (about 40 MB, once) …",
            client.name
        );
        progress(&message);
        match run(search, &client).await {
            Ok(()) if client.binary.is_file() => return Ok(client.binary),
            Ok(()) => failures.push(format!(
                "{} installed no binary for this machine",
                client.name
            )),
            Err(reason) => failures.push(format!("{} failed: {reason}", client.name)),
        }
    }
    let manual = format!("npm install --global deno@{VERSION}");
    let remedy = format!(
        "install it with `{manual}` (npm: `apt-get install npm`), or start with HEADWATER_DENO=/path/to/deno"
    );
    if failures.is_empty() {
        let missing =
            format!("Deno {VERSION} is needed, and neither npm nor pip is on PATH to fetch it");
        return Err(EngineError::Spawn(format!("{missing}: {remedy}")));
    }
    let reasons = failures.join("\n");
    Err(EngineError::Spawn(format!(
        "Deno {VERSION} could not be fetched; {remedy}\n{reasons}"
    )))
}

fn clients(search: &DenoSearch, release: &Release, staging: &Path) -> Vec<Client> {
    let (npm_folder, pip_folder) = (staging.join("npm"), staging.join("pip"));
    // Neither leaves anything in the user's home.
    let npm_cache = staging.join("npm-cache");
    let package = format!("deno@{VERSION}");
    let npm = candidates(search, "npm").next().map(|program| Client {
        name: "npm",
        program,
        arguments: [
            "install",
            "--prefix",
            &npm_folder.to_string_lossy(),
            "--cache",
            &npm_cache.to_string_lossy(),
            &package,
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-save",
        ]
        .map(str::to_owned)
        .to_vec(),
        binary: npm_folder
            .join("node_modules")
            .join(release.npm_package)
            .join("deno"),
    });
    let pip = ["pip", "pip3"]
        .iter()
        .find_map(|name| candidates(search, name).next())
        .map(|program| Client {
            name: "pip",
            program,
            arguments: [
                "install",
                "--target",
                &pip_folder.to_string_lossy(),
                "--no-deps",
                "--no-cache-dir",
                "--only-binary=:all:",
                "--disable-pip-version-check",
                "--progress-bar=off",
                &format!("deno=={VERSION}"),
            ]
            .map(str::to_owned)
            .to_vec(),
            binary: pip_folder.join("bin").join("deno"),
        });
    npm.into_iter().chain(pip).collect()
}

async fn run(search: &DenoSearch, client: &Client) -> Result<(), String> {
    let mut command = Command::new(&client.program);
    command
        .args(&client.arguments)
        .env_clear()
        .envs(search.client_env.iter().cloned());
    if let Some(path) = &search.path_var {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(CLIENT_TIMEOUT, command.output()).await {
        Ok(output) => output.map_err(|error| error.to_string())?,
        Err(_) => {
            return Err(format!(
                "it took longer than {} s",
                CLIENT_TIMEOUT.as_secs()
            ));
        }
    };
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(tail(text.trim()).to_owned())
}

fn tail(text: &str) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES));
    &text[start..]
}

/// Compares the digest of a file with the pinned one, off the async threads: it is 100 MB.
pub(super) async fn verify(path: PathBuf, pinned: &'static str) -> Result<(), String> {
    let digest = tokio::task::spawn_blocking(move || digest(&path)).await;
    let digest = digest
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())?;
    if digest == pinned {
        Ok(())
    } else {
        Err(format!("its SHA-256 is {digest}, not {pinned}"))
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = fs::File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = io::Read::read(&mut file, &mut buffer)?;
        if read == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}

pub(super) fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn spawn_error(path: &Path, error: &io::Error) -> EngineError {
    EngineError::Spawn(format!("installing Deno into {}: {error}", path.display()))
}
