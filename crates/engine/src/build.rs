//! Building a saved component: its modules are gathered, its packages resolved and locked, everything
//! is made one archive, and the archive is described in a throw-away sandbox.
//!
//! Responsible for: everything between [`ComponentCode`] and [`Build`]. Not for: keeping builds, or
//! what a component does when it runs. Builds run two at a time: they cost CPU and memory that the
//! node's runs need.

mod bundle;
mod command;
mod component_files;
mod describe;
mod download;
mod endings;
mod failure;
mod fetch;
mod forms;
mod graph;
mod language;
mod local;
mod manifests;
mod markers;
mod node_modules;
mod package_modules;
mod packages;
mod registry_answers;
mod repository;
mod script;
mod source_map;
mod sources;
mod specifier;
mod throwaway;
mod undeclared;
mod unsuitable;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use registry_answers::RegistryAnswers;
use tokio::sync::{Semaphore, SemaphorePermit};

use bundle::{Bundled, Bundling};
use command::DenoTool;
pub use component_files::component_files;
pub use describe::Describe;
use download::download;
use failure::{BuildFailure, BuildResult, disk};
use fetch::ModuleFetcher;
pub use local::{LocalBundle, LocalBundling, bundle_local};
use packages::Resolved;
use sources::{Gathering, Sources};
pub use throwaway::ThrowawayWorkers;

use crate::{
    api::{Build, ComponentCode, EngineError, Rejection},
    network::{CaCertificates, NetworkPolicy},
};

/// Builds at a time.
const CONCURRENT_BUILDS: usize = 2;

/// What a builder needs.
#[derive(Debug, Clone)]
pub struct BuilderConfig {
    /// Deno, as [`crate::deno::locate`] found it.
    pub deno: PathBuf,
    /// Where downloaded packages are kept and builds are made; created if need be.
    pub cache_dir: PathBuf,
    /// Environment variables for the registry client, as the user has them: the home folder for `.npmrc`,
    /// the registry, proxies and certificates. Deno gets no other variable.
    pub registry_env: Vec<(OsString, OsString)>,
    /// What fetching a `component_url` may reach.
    pub network: NetworkPolicy,
    /// Whose certificates that trusts besides the web's authorities.
    pub ca: Option<CaCertificates>,
}

/// Builds components.
pub struct Builder {
    tool: DenoTool,
    builds_dir: PathBuf,
    fetcher: ModuleFetcher,
    describer: Arc<dyn Describe>,
    permits: Semaphore,
    answers: RegistryAnswers,
}

impl Builder {
    /// A builder that has components described by `describer`.
    ///
    /// # Errors
    /// The cache folder cannot be made, or the TLS stack cannot be set up.
    pub fn new(config: BuilderConfig, describer: Arc<dyn Describe>) -> Result<Self, EngineError> {
        let unusable = |error: std::io::Error| EngineError::Unavailable {
            context: format!("preparing the cache folder {}", config.cache_dir.display()),
            reason: error.to_string(),
        };
        let builds_dir = config.cache_dir.join("builds");
        std::fs::create_dir_all(&builds_dir).map_err(unusable)?;
        // Links on the way would make Deno's names of files differ from ours.
        let cache_dir = config.cache_dir.canonicalize().map_err(unusable)?;
        let deno_dir = cache_dir.join("deno-dir");
        let tool = DenoTool {
            deno: config.deno,
            deno_dir,
            registry_env: config.registry_env,
        };
        Ok(Self {
            tool,
            builds_dir: cache_dir.join("builds"),
            fetcher: ModuleFetcher::new(config.network, config.ca.as_ref())?,
            describer,
            permits: Semaphore::new(CONCURRENT_BUILDS),
            answers: RegistryAnswers::default(),
        })
    }

    /// Resolves, locks, archives and describes a component.
    ///
    /// # Errors
    /// [`EngineError`] when the host failed; a component at fault is `Ok(Err(Rejection))`.
    pub async fn build(
        &self,
        component: ComponentCode,
    ) -> Result<Result<Build, Rejection>, EngineError> {
        match self.attempt(component).await {
            Ok(build) => Ok(Ok(build)),
            Err(BuildFailure::Rejected(rejection)) => Ok(Err(*rejection)),
            Err(BuildFailure::Host(error)) => Err(error),
        }
    }

    /// Has packages resolved by what the registry says now, whatever it said a short while ago.
    pub fn forget_registry_answers(&self) {
        self.answers.expire();
    }

    async fn attempt(&self, component: ComponentCode) -> BuildResult<Build> {
        let _permit = self.permit().await?;
        let staging = self.staging()?;
        let folder = staging.path();
        let code = folder.join("code");
        for path in [&code, &folder.join("bundle"), &folder.join("modules")] {
            tokio::fs::create_dir(path)
                .await
                .map_err(|error| disk(path, &error))?;
        }
        let gathering = Gathering {
            tool: &self.tool,
            fetcher: &self.fetcher,
            folder: &code,
        };
        let mut sources = gathering.gather(component).await?;
        if !sources.packages.is_empty() {
            self.answers.drop_stale(&self.tool.deno_dir).await;
        }
        let (bundled, resolved) = self.bundled(folder, &code, &mut sources).await?;
        let bundling = self.bundling(folder, &code, &sources);
        self.archive_and_describe(&bundling, bundled, resolved)
            .await
    }

    /// Resolves the packages and bundles them in; what they turn out to import undeclared is added to `sources`.
    async fn bundled(
        &self,
        folder: &Path,
        code: &Path,
        sources: &mut Sources,
    ) -> BuildResult<(Bundled, Resolved)> {
        let imported = sources.packages.clone();
        loop {
            let resolved = packages::resolve(&self.tool, folder, sources).await?;
            manifests::as_node_sees_them(resolved.folders()).await?;
            let bundling = self.bundling(folder, code, sources);
            let bundled = bundling.with_packages(&folder.join("bundle")).await?;
            let Some(reason) = &bundled.obstacle else {
                return Ok((bundled, resolved));
            };
            let mut undeclared = undeclared::packages(reason, &imported, &self.tool.deno_dir).await;
            undeclared.retain(|package| !sources.packages.contains(package));
            if undeclared.is_empty() {
                if bundled.reached.is_none() && !sources.packages.is_empty() {
                    // The bundler does not say why it lacks a package.
                    download(&self.tool, folder, &sources.packages).await?;
                }
                return Ok((bundled, resolved));
            }
            sources.packages.extend(undeclared);
        }
    }

    fn bundling<'a>(
        &'a self,
        folder: &'a Path,
        code: &'a Path,
        sources: &'a Sources,
    ) -> Bundling<'a> {
        Bundling {
            tool: &self.tool,
            folder,
            code,
            sources,
        }
    }

    async fn permit(&self) -> Result<SemaphorePermit<'_>, EngineError> {
        let closed = |_| EngineError::WorkerLost("the builder is closed".into());
        self.permits.acquire().await.map_err(closed)
    }

    /// A folder that is gone when the build is done.
    fn staging(&self) -> BuildResult<tempfile::TempDir> {
        tempfile::Builder::new()
            .prefix("build-")
            .tempdir_in(&self.builds_dir)
            .map_err(|error| disk(&self.builds_dir, &error))
    }
}
