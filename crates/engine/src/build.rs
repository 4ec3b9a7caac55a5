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
mod failure;
mod fetch;
mod graph;
mod language;
mod local;
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
use failure::{BuildFailure, BuildResult, disk, rejection};
use fetch::ModuleFetcher;
pub use local::{LocalBundle, LocalBundling, bundle_local};
use sources::{Gathering, Sources};
pub use throwaway::ThrowawayWorkers;

use crate::{
    api::{Artifact, Build, BuildStage, ComponentCode, EngineError, Rejection},
    artifact,
    network::{CaCertificates, NetworkPolicy},
};

/// Builds at a time.
const CONCURRENT_BUILDS: usize = 2;
/// An archive larger than this would be copied to every node on every cold start.
const ARTIFACT_BYTES: usize = 128 * 1024 * 1024;

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

/// An archive on its way, and what it takes to make the other form of it.
struct Packed {
    artifact: Artifact,
    lock: String,
    folder: PathBuf,
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
        let bundled = self.bundled(folder, &code, &mut sources).await?;
        let bundling = self.bundling(folder, &code, &sources);
        self.archive_and_describe(&bundling, bundled).await
    }

    /// Resolves the packages and bundles them in; what they turn out to import undeclared is added to `sources`.
    async fn bundled(
        &self,
        folder: &Path,
        code: &Path,
        sources: &mut Sources,
    ) -> BuildResult<Bundled> {
        let imported = sources.packages.clone();
        loop {
            packages::resolve(&self.tool, folder, sources).await?;
            let bundling = self.bundling(folder, code, sources);
            let bundled = bundling.with_packages(&folder.join("bundle")).await?;
            let Bundled::Impossible(reason) = &bundled else {
                return Ok(bundled);
            };
            let mut undeclared = undeclared::packages(reason, &imported, &self.tool.deno_dir).await;
            undeclared.retain(|package| !sources.packages.contains(package));
            if undeclared.is_empty() {
                return Ok(bundled);
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

    /// Describes the bundle, and tries the node_modules form where code does not work in a bundle.
    async fn archive_and_describe(
        &self,
        bundling: &Bundling<'_>,
        bundled: Bundled,
    ) -> BuildResult<Build> {
        let code = bundling.sources.code.clone();
        let why = match bundled {
            Bundled::Whole => {
                let packed = self
                    .packed(
                        bundling.folder.join("bundle"),
                        lock_of(bundling.folder).await,
                    )
                    .await?;
                match self.describe(&packed).await {
                    Err(BuildFailure::Rejected(rejection))
                        if may_work_unbundled(bundling.sources, &rejection) =>
                    {
                        rejection.error.message
                    }
                    description => return Ok(packed.into_build(code, description?)),
                }
            }
            Bundled::Impossible(reason) if bundling.sources.packages.is_empty() => {
                return Err(failure::not_resolved(bundling.readable(&reason)));
            }
            Bundled::Impossible(reason) => reason,
        };
        tracing::debug!(reason = why, "the component's packages cannot be bundled");
        let modules = bundling.folder.join("modules");
        bundling.without_packages(&modules).await?;
        let lock = node_modules::install(&self.tool, &modules, bundling.sources).await?;
        let packed = self.packed(modules, lock).await?;
        match self.describe(&packed).await {
            Ok(description) => Ok(packed.into_build(code, description)),
            Err(failure) => Err(blame_native_code(failure, &packed.folder)),
        }
    }

    async fn packed(&self, folder: PathBuf, lock: String) -> BuildResult<Packed> {
        let packing = folder.clone();
        let packed = tokio::task::spawn_blocking(move || artifact::pack(&packing)).await;
        let artifact = packed
            .map_err(std::io::Error::other)
            .and_then(|packed| packed)
            .map_err(|error| disk(&folder, &error))?;
        if artifact.bytes.len() > ARTIFACT_BYTES {
            let (size, limit) = (artifact.bytes.len() >> 20, ARTIFACT_BYTES >> 20);
            let message = format!(
                "the component and its packages take {size} MiB, more than the {limit} MiB allowed"
            );
            return Err(rejection(BuildStage::Resolve, "SizeError", message));
        }
        Ok(Packed {
            artifact,
            lock,
            folder,
        })
    }

    async fn describe(
        &self,
        packed: &Packed,
    ) -> BuildResult<headwater_model::component::Description> {
        let described = self.describer.describe(&packed.folder).await?;
        let description = described.map_err(|error| Rejection {
            stage: BuildStage::Evaluate,
            error,
        })?;
        describe::checked(description)
    }
}

impl Packed {
    fn into_build(
        self,
        code: String,
        description: headwater_model::component::Description,
    ) -> Build {
        Build {
            code,
            artifact: self.artifact,
            lock: self.lock,
            description,
        }
    }
}

/// Whether evaluation failed in a way that bundling may have caused: something was not found, or may not be read.
fn may_work_unbundled(sources: &Sources, rejection: &Rejection) -> bool {
    let signs = [
        "Cannot find",
        "Could not find",
        "ENOENT",
        "No such file",
        "is not supported",
        "Requires read access",
        "__dirname",
        "NOT_FOUND",
    ];
    let error = &rejection.error;
    let text = format!("{} {} {:?}", error.name, error.message, error.code);
    rejection.stage == BuildStage::Evaluate
        && !sources.packages.is_empty()
        && signs.iter().any(|sign| text.contains(sign))
}

/// Adds to an evaluation's failure which packages would need native code, which components cannot have.
fn blame_native_code(failure: BuildFailure, folder: &Path) -> BuildFailure {
    let BuildFailure::Rejected(mut rejection) = failure else {
        return failure;
    };
    let native = node_modules::native_packages(folder);
    if rejection.stage == BuildStage::Evaluate && !native.is_empty() {
        let names = native.join(", ");
        rejection.error.message = format!(
            "{} (native code is needed by {names}; components run packages of JavaScript and WebAssembly only, \
             and install scripts never run)",
            rejection.error.message
        );
    }
    BuildFailure::Rejected(rejection)
}

async fn lock_of(folder: &Path) -> String {
    // There is none when nothing had to be resolved.
    tokio::fs::read_to_string(folder.join(packages::LOCK))
        .await
        .unwrap_or_else(|_| "{\"version\":\"5\"}\n".into())
}
