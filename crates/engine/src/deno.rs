//! Finding Deno, or installing it.
//!
//! Responsible for: a Deno of the pinned release, from where the user says, from PATH, from the cache
//! folder, or fetched by the package client at hand; and the bundler that it runs. Not for: their use.
//! Does not read the environment: the caller passes it in.

mod bundler;
mod cache_files;
mod failed_tries;
mod install;
pub(crate) mod process;
mod release;
mod search;
mod trial;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::process::Command;

pub use bundler::{Bundler, BundlerSource};
pub(crate) use release::BUNDLER_FOLDER;
use release::Release;
pub use release::{BUNDLER_VERSION, VERSION};
pub use search::DenoSearch;
use search::candidates;

use crate::api::EngineError;

/// The time that `deno --version` may take; a cold page cache under load needs seconds, a broken binary hangs.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// A Deno of a suitable version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deno {
    /// The executable.
    pub path: PathBuf,
    /// Its version, such as `2.9.6`.
    pub version: String,
}

/// Finds Deno, installing it when there is none; `progress` is called before long steps.
///
/// # Errors
/// [`EngineError::Spawn`], with the next step, when there is no suitable Deno and none can be installed.
pub async fn locate(
    search: &DenoSearch,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Deno, EngineError> {
    if let Some(path) = &search.override_path {
        return chosen(path).await;
    }
    if let Some(deno) = on_path(search).await {
        return Ok(deno);
    }
    let release = Release::of_this_machine()?;
    let path = install::cached(search, &release, progress).await?;
    Ok(Deno {
        path,
        version: VERSION.to_owned(),
    })
}

async fn chosen(path: &Path) -> Result<Deno, EngineError> {
    let shown = path.display();
    let version = version_of(path).await.map_err(|reason| {
        EngineError::Spawn(format!("the Deno given as {shown} does not run: {reason}"))
    })?;
    if !release::fits(&version) {
        let wanted = format!(
            "the Deno given as {shown} is {version}; Headwater needs {VERSION} or a later patch of it"
        );
        return Err(EngineError::Spawn(wanted));
    }
    Ok(Deno {
        path: path.to_owned(),
        version,
    })
}

async fn on_path(search: &DenoSearch) -> Option<Deno> {
    for path in candidates(search, "deno") {
        match version_of(&path).await {
            Ok(version) if release::fits(&version) => return Some(Deno { path, version }),
            Ok(version) => {
                tracing::debug!(path = %path.display(), version, "passing over another release of Deno")
            }
            Err(reason) => {
                tracing::debug!(path = %path.display(), reason, "passing over a Deno that does not run")
            }
        }
    }
    None
}

async fn version_of(deno: &Path) -> Result<String, String> {
    let run = Command::new(deno)
        .arg("--version")
        .env_clear()
        .kill_on_drop(true)
        .output();
    let output = match tokio::time::timeout(VERSION_TIMEOUT, run).await {
        Ok(output) => output.map_err(|error| error.to_string())?,
        Err(_) => return Err("it did not answer".into()),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    match (output.status.success(), words.next(), words.next()) {
        (true, Some("deno"), Some(version)) => Ok(version.to_owned()),
        _ => Err("it is not Deno".into()),
    }
}

#[cfg(test)]
mod tests;
