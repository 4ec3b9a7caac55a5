//! Building a saved component: its modules are gathered, its packages resolved and locked, all files are packed
//! into one archive, and the archive is described in a throw-away sandbox.
//!
//! Responsible for: everything between [`BuildRequest`] and [`Build`]. Not for: keeping builds, or
//! running components. Builds run two at a time: they cost CPU and memory that the
//! node's runs need. Owners take turns.

mod beside;
mod bundle;
mod command;
mod component_files;
mod component_modules;
mod declared;
mod describe;
mod download;
mod endings;
mod explanation;
mod failure;
mod fetch;
mod forms;
mod graph;
mod imports;
mod inspection;
mod language;
mod layout;
mod local;
mod lone;
mod manifests;
mod markers;
mod missing_file;
mod node_modules;
mod package_modules;
mod packages;
mod platform_module;
mod registry_answers;
mod replacement;
mod repository;
mod resolved;
mod script;
mod settings;
mod settled;
mod shared_platform;
mod source_map;
mod sources;
mod spare;
mod specifier;
mod stated;
mod syntax;
mod throwaway;
mod undeclared;
mod unsuitable;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use bundle::{Bundled, Bundling};
use command::{DenoTool, Program};
pub use component_files::component_files;
pub use describe::{Describe, Evaluated};
use download::download;
use failure::{BuildFailure, BuildResult, disk};
use fetch::ModuleFetcher;
pub use local::{LocalBundle, LocalBundling, bundle_local};
use registry_answers::RegistryAnswers;
use resolved::Resolved;
use shared_platform::SharedPlatforms;
use sources::{Gathering, Sources};
pub use stated::{StatedComponent, imported_places, stated_component};
pub use syntax::{SyntaxFault, syntax_faults};
pub use throwaway::ThrowawayWorkers;

use crate::{
    api::{Build, BuildObserver, BuildPart, BuildRequest, EngineError, Rejection},
    confine::Confinement,
    deno::{Bundler, BundlerSource},
    fair_queue::{FairQueue, Full, Permit},
    network::{CaCertificates, NetworkPolicy},
};

/// The bytes that a component and its packages may have, unpacked. Every node unpacks them, and cold starts read them;
/// the largest packages of the public registry's components take 174 MiB (`netlify`), and half of that again is
/// room to grow. An archive of incompressible files stays below what a row of the embedded store may have (1 GB).
pub const CODE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Builds at a time.
const CONCURRENT_BUILDS: usize = 2;
/// Builds of one owner that may wait.
const WAITING_MAX: usize = 32;

/// The configuration of a builder.
#[derive(Debug, Clone)]
pub struct BuilderConfig {
    /// Confines the steps of a build.
    pub confinement: Arc<Confinement>,
    /// The folder of downloaded packages and of builds; created if need be.
    pub cache_dir: PathBuf,
    /// A cache folder of Deno that may already contain the bundler.
    pub kept_in: Option<PathBuf>,
    /// Environment variables for the registry client, as the user has them: the home folder for `.npmrc`,
    /// the registry, proxies and certificates. Deno gets no other variable.
    pub registry_env: Vec<(OsString, OsString)>,
    /// The bytes that a component and its packages may have: [`CODE_BYTES_MAX`] but for tests.
    pub code_bytes_max: u64,
    /// The addresses that fetching a `component_url` may reach.
    pub network: NetworkPolicy,
    /// The certificates that it trusts in addition to those of the public authorities.
    pub ca: Option<CaCertificates>,
}

/// Builds components.
pub struct Builder {
    tool: DenoTool,
    fetcher: ModuleFetcher,
    describer: Arc<dyn Describe>,
    queue: FairQueue,
    answers: RegistryAnswers,
    platforms: SharedPlatforms,
    code_bytes_max: u64,
}

impl Builder {
    /// A builder that uses `describer` to describe components.
    ///
    /// # Errors
    /// The cache folder cannot be created, or the TLS stack cannot be set up.
    pub fn new(config: BuilderConfig, describer: Arc<dyn Describe>) -> Result<Self, EngineError> {
        let unusable = |error: std::io::Error| EngineError::Unavailable {
            context: format!("preparing the cache folder {}", config.cache_dir.display()),
            reason: error.to_string(),
        };
        let builds_dir = config.cache_dir.join(layout::BUILDS);
        std::fs::create_dir_all(&builds_dir).map_err(unusable)?;
        // With links in the path, Deno's file names would differ from ours.
        let cache_dir = config.cache_dir.canonicalize().map_err(unusable)?;
        let deno_dir = cache_dir.join("deno-dir");
        std::fs::create_dir_all(&deno_dir)
            .and_then(|()| config.confinement.give(&deno_dir))
            .map_err(unusable)?;
        let source = BundlerSource {
            deno: config.confinement.deno().to_owned(),
            kept_in: config.kept_in,
            registry_env: config.registry_env.clone(),
        };
        let bundler = Bundler::new(source, deno_dir.clone());
        let bundler = bundler.confined(Arc::clone(&config.confinement));
        let tool = DenoTool {
            program: Program::Confined(config.confinement),
            bundler: Arc::new(bundler),
            deno_dir,
            registry_env: config.registry_env,
        };
        Ok(Self {
            tool,
            fetcher: ModuleFetcher::new(config.network, config.ca.as_ref())?,
            describer,
            queue: FairQueue::new(CONCURRENT_BUILDS, WAITING_MAX),
            answers: RegistryAnswers::default(),
            platforms: SharedPlatforms::default(),
            code_bytes_max: config.code_bytes_max,
        })
    }

    /// Resolves, locks, archives and describes a component.
    ///
    /// # Errors
    /// [`EngineError`] when the host failed; a component at fault is `Ok(Err(Rejection))`.
    pub async fn build(
        &self,
        request: impl Into<BuildRequest>,
    ) -> Result<Result<Build, Rejection>, EngineError> {
        match self.attempt(request.into()).await {
            Ok(build) => Ok(Ok(build)),
            Err(BuildFailure::Rejected(rejection)) => Ok(Err(*rejection)),
            Err(BuildFailure::Host(error)) => Err(error),
        }
    }

    /// Resolves packages with the registry's present answers, ignoring cached ones.
    pub fn forget_registry_answers(&self) {
        self.answers.expire();
    }

    /// The bundler that every build needs, fetched if it is not there.
    ///
    /// # Errors
    /// The bundler is unavailable.
    pub async fn prepare(&self) -> Result<(), EngineError> {
        self.tool.bundler.ready().await.map(drop)
    }

    /// Whether the last [`Builder::prepare`] failed.
    pub fn lacks_bundler(&self) -> bool {
        self.tool.bundler.is_missing()
    }

    async fn permit(&self, owner: &str) -> Result<Permit, EngineError> {
        let permit = self.queue.acquire(owner).await;
        permit.map_err(|Full| {
            EngineError::Busy(format!(
                "{WAITING_MAX} components of yours wait to be built, which is as many as may; try again when some are"
            ))
        })
    }

    async fn attempt(&self, request: BuildRequest) -> BuildResult<Build> {
        request.observer.begins(BuildPart::Queue);
        self.prepare().await?;
        let _permit = self.permit(&request.owner).await?;
        self.describer.prepare();
        let staging = self.staging().await?;
        let built = self.build_in(staging.path(), request).await;
        // With the packages beside it, it has many files.
        let removed = tokio::task::spawn_blocking(move || staging.close()).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "the folder of a build cannot be removed");
        }
        built
    }

    async fn build_in(&self, folder: &Path, request: BuildRequest) -> BuildResult<Build> {
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
        request.observer.begins(BuildPart::Modules);
        let mut sources = gathering.gather(request.code).await?;
        sources.ranges = request.ranges;
        sources.is_step = request.is_step;
        if !sources.packages.is_empty() {
            self.answers.drop_stale(&self.tool.deno_dir).await;
        }
        declared::apply(&self.tool, folder, &sources.ranges, &mut sources.packages).await?;
        let observer = &request.observer;
        let (bundled, resolved) = self.bundled(folder, &code, &mut sources, observer).await?;
        let bundling = self.bundling(folder, &code, &sources);
        observer.begins(BuildPart::Describe);
        self.archive_and_describe(&bundling, bundled, resolved)
            .await
    }

    /// Resolves the packages and bundles them in; packages that they import undeclared are added to `sources`.
    async fn bundled(
        &self,
        folder: &Path,
        code: &Path,
        sources: &mut Sources,
        observer: &BuildObserver,
    ) -> BuildResult<(Bundled, Arc<Resolved>)> {
        let imported = sources.packages.clone();
        loop {
            if !sources.packages.is_empty() {
                observer.begins(BuildPart::Packages);
            }
            let resolved = packages::resolve(&self.tool, folder, &self.answers, sources).await?;
            settled::settle(&self.tool, resolved.folders()).await?;
            observer.begins(BuildPart::Bundle);
            let bundling = self.bundling(folder, code, sources);
            let output = folder.join("bundle");
            let bundled = bundling.without_platform(&self.platforms, &resolved, &output);
            if let Some(bundled) = bundled.await? {
                return Ok((bundled, resolved));
            }
            let bundled = match bundling.with_packages(&output, resolved.platform()).await {
                Ok(bundled) => bundled,
                Err(failure) => {
                    return Err(
                        missing_file::explained(failure, &sources.packages, &resolved).await,
                    );
                }
            };
            let Some(reason) = &bundled.obstacle else {
                return Ok((bundled, resolved));
            };
            let mut undeclared = undeclared::packages(reason, &imported, &self.tool.deno_dir).await;
            undeclared.retain(|package| {
                !sources
                    .packages
                    .iter()
                    .any(|known| known.written == package.written)
            });
            if undeclared.is_empty() {
                if bundled.reached.is_none() && !sources.packages.is_empty() {
                    // The bundler does not report why a package is missing.
                    download(&self.tool, folder, &sources.packages).await?;
                }
                return Ok((bundled, resolved));
            }
            declared::apply(&self.tool, folder, &sources.ranges, &mut undeclared).await?;
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

    /// A folder that is removed at the end of the build.
    async fn staging(&self) -> BuildResult<tempfile::TempDir> {
        self.tool.scratch("build-").await
    }
}
