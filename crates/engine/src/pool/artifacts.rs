//! Code folders on this node: each archive unpacked once, and linked into the folders of workers.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use crate::{
    api::{EngineError, WorkerSpec},
    artifact, factory,
    runtime_files::{publish, readable},
    shared_modules::{self, SharedModule},
    worker::folder::create_seen,
};

/// A component's code on this node.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub(super) folder: PathBuf,
    /// The module that it imports and shares, if there is one.
    pub(super) shared: Option<SharedModule>,
}

/// Unpacked archives by hash.
#[derive(Debug)]
pub(super) struct ArtifactCache {
    folder: PathBuf,
}

impl ArtifactCache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The source's code, fetched and unpacked if this node has not done so.
    ///
    /// # Errors
    /// The archive cannot be read, has another hash, or cannot be unpacked.
    pub(super) async fn unpacked(&self, spec: &WorkerSpec) -> Result<Unpacked, EngineError> {
        let hash = spec.artifact_hash.as_str();
        if hash.is_empty() || !hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(failed(
                "finding a component's code",
                &io::Error::other(format!("`{hash}` is not a hash")),
            ));
        }
        let folder = self.folder.join(hash);
        let there = folder.clone();
        let context = "finding a component's code";
        if let Some(unpacked) = blocking(context, move || found(there)).await? {
            return Ok(unpacked);
        }
        let archive = spec.state.artifact().await?;
        let hash = hash.to_owned();
        blocking("unpacking a component's code", move || {
            unpack(&archive, &hash, &folder)?;
            found(folder)?.ok_or_else(|| io::ErrorKind::NotFound.into())
        })
        .await
    }
}

/// Makes `code`, which is empty or missing, a copy of `artifact` that shares its files. Modules that components share go
/// to `shared`. Returns whether any number of components can run the copy.
///
/// # Errors
/// A file can neither be linked nor copied.
pub(super) async fn link(
    artifact: PathBuf,
    code: PathBuf,
    shared: PathBuf,
) -> Result<bool, EngineError> {
    blocking("giving a worker its code", move || {
        shared_modules::publish_all(&artifact, &shared)?;
        if !code.try_exists()? {
            create_seen(&code)?;
        }
        link_folder(&artifact, &code, Some(shared_modules::FOLDER))?;
        factory::is_in(&code)
    })
    .await
}

async fn blocking<T: Send + 'static>(
    context: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, EngineError> {
    let done = spawn_blocking(work)
        .await
        .map_err(io::Error::other)
        .and_then(|done| done);
    done.map_err(|error| failed(context, &error))
}

fn failed(context: &str, error: &io::Error) -> EngineError {
    EngineError::Unavailable {
        context: context.to_owned(),
        reason: error.to_string(),
    }
}

fn found(folder: PathBuf) -> io::Result<Option<Unpacked>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let shared = SharedModule::of(&folder)?;
    Ok(Some(Unpacked { folder, shared }))
}

fn unpack(archive: &Bytes, hash: &str, folder: &Path) -> io::Result<()> {
    let actual = hex::encode(Sha256::digest(archive));
    if actual != hash {
        return Err(io::Error::other(format!(
            "the archive is {actual}, not {hash}; save the component again"
        )));
    }
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent)?;
    let staging = tempfile::Builder::new().prefix("new-").tempdir_in(parent)?;
    artifact::unpack(archive, staging.path())?;
    factory::derive(staging.path())?;
    readable(staging.path())?;
    publish(staging, folder)
}

fn link_folder(from: &Path, to: &Path, but: Option<&str>) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if but.is_some_and(|but| entry.file_name() == but) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            create_seen(&target)?;
            link_folder(&source, &target, None)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if fs::hard_link(&source, &target).is_err() {
            // Another file system, or one without links.
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
