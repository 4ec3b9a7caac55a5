//! The engine that the platform runs on: components in Deno processes.
//!
//! Responsible for: putting the builder, the sandbox and the pool together. Not for their work.

use std::{collections::BTreeMap, ffi::OsString, io, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use headwater_model::{limits::RunLimits, package::PackageReference};
use tokio_util::task::TaskTracker;

use crate::{
    api::{
        Build, BuildRequest, Engine, EngineError, EngineStatus, Invocation, PackageModules,
        Rejection, RunSink, WorkerOwner, WorkerSpec,
    },
    build::{Builder, BuilderConfig, CODE_BYTES_MAX, ThrowawayWorkers},
    code_folders::CodeFolders,
    confine::{Confinement, ConfinementConfig},
    deno::Deno,
    network::{CaCertificates, Destination, NetworkPolicy, Route},
    pool::{Isolation, Pool, PoolConfig, WorkerRoom},
    runtime_files::RuntimeFiles,
    sandbox::{self, Sandbox, SandboxConfig},
    worker::{WorkerLaunch, folder},
};

/// The time after which an unavailable bundler is tried again.
const PREPARED_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Disk that a worker's temporary files may take.
const TMP_MIB: u64 = 1024;
/// Components as workers run them. Another name than that of another form, of which a node may have some.
const UNPACKED: &str = "unpacked-2";

/// The parts of an engine.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Deno, as [`crate::deno::locate`] found it.
    pub deno: Deno,
    /// The confinement of processes.
    pub confinement: ConfinementConfig,
    /// The folder of files that survive a restart and may be deleted while the node is down: packages, unpacked code,
    /// the runtime's files. Created if need be.
    pub cache_dir: PathBuf,
    /// The cache folder of Deno's that may have the bundler already: see [`BuilderConfig::kept_in`].
    pub kept_in: Option<PathBuf>,
    /// Workers' folders. Emptied at the start and at shutdown: no two engines may share it.
    pub work_dir: PathBuf,
    /// Limits of every run.
    pub limits: RunLimits,
    /// The addresses that components, and fetches of component code, may reach.
    pub network: NetworkPolicy,
    /// The sources that may share a worker.
    pub isolation: Isolation,
    /// The room for sources in one worker.
    pub room: WorkerRoom,
    /// The number of workers kept ready for sources without one.
    pub warm_workers: usize,
    /// Memory of all sources' workers together, beyond which idle ones are ended.
    pub workers_memory_mib: u64,
    /// Memory of all sources' workers together, beyond which those are ended that had no run for five seconds.
    pub rested_workers_memory_mib: u64,
    /// Workers that the sources of one tenant may have.
    pub workers_per_tenant: usize,
    /// The time that a source's worker waits for the next invocation before it is ended.
    pub worker_idle: Duration,
    /// The authorities that both trust in addition to the public ones.
    pub ca: Option<CaCertificates>,
    /// The destinations of components' requests to some host names.
    pub routes: Vec<Route>,
    /// The end of a route to this node: a Unix socket where this node's API listens, on the file system of `work_dir`.
    pub api_socket: Option<PathBuf>,
    /// Environment variables for the registry client: see [`BuilderConfig::registry_env`].
    pub registry_env: Vec<(OsString, OsString)>,
}

/// Builds components and runs them in Deno.
pub struct DenoEngine {
    runtime_version: String,
    builder: Arc<Builder>,
    sandbox: Arc<Sandbox>,
    pool: Arc<Pool>,
    work_dir: PathBuf,
    folders: CodeFolders,
    routes: usize,
    ca_certificates: usize,
    closes_sockets: bool,
}

impl DenoEngine {
    /// An engine whose warm workers are starting. Has to be called in a runtime of Tokio.
    ///
    /// # Errors
    /// A folder cannot be created, or something that processes need cannot be set up.
    pub async fn start(config: EngineConfig) -> Result<Arc<Self>, EngineError> {
        let prepared = tokio::task::spawn_blocking(move || Self::prepare(config)).await;
        let (config, sandbox, builder) =
            prepared.map_err(|error| EngineError::Spawn(error.to_string()))??;
        let routes = config.routes.len();
        let closes_sockets = closes_sockets(&sandbox, config.api_socket.as_ref(), &config.routes);
        let launch = WorkerLaunch {
            sandbox: Arc::clone(&sandbox),
            work_dir: config.work_dir.clone(),
            limits: config.limits.clone(),
            routes: config.routes,
            api_socket: config.api_socket,
            lives: TaskTracker::new(),
        };
        let pool_config = PoolConfig {
            warm_workers: config.warm_workers,
            memory_bytes: config.workers_memory_mib << 20,
            rested_memory_bytes: config.rested_workers_memory_mib << 20,
            workers_per_tenant: config.workers_per_tenant,
            room: config.room,
            isolation: config.isolation,
            worker_tmp_bytes: TMP_MIB << 20,
            idle: config.worker_idle,
            artifacts_dir: config.cache_dir.join(UNPACKED),
        };
        let folders = CodeFolders::new(config.cache_dir.clone(), config.work_dir.clone());
        let runtime_version = config.deno.version;
        // Sources that are there run without it, so the start does not wait.
        let preparing = Arc::clone(&builder);
        tokio::spawn(async move {
            while let Err(error) = preparing.prepare().await {
                tracing::error!(%error, "components cannot be built yet");
                tokio::time::sleep(PREPARED_AGAIN_AFTER).await;
            }
        });
        let pool = Pool::start(pool_config, launch);
        Ok(Arc::new(Self {
            runtime_version,
            builder,
            sandbox,
            pool,
            work_dir: config.work_dir,
            folders,
            routes,
            closes_sockets,
            ca_certificates: config.ca.map_or(0, |ca| ca.count()),
        }))
    }

    /// Writes the files that the first process needs.
    fn prepare(
        mut config: EngineConfig,
    ) -> Result<(EngineConfig, Arc<Sandbox>, Arc<Builder>), EngineError> {
        for folder in [&mut config.cache_dir, &mut config.work_dir] {
            let made = std::fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
            *folder = made.map_err(|error| unusable(folder, &error))?;
            sandbox::check_path(folder).map_err(|error| unusable(folder, &error))?;
        }
        folder::wipe(&config.work_dir).map_err(|error| unusable(&config.work_dir, &error))?;
        let runtime = RuntimeFiles::materialise(&config.cache_dir)
            .map_err(|error| unusable(&config.cache_dir, &error))?;
        let ca_file = config.ca.as_ref();
        let ca_file = ca_file.map(|ca| ca.materialise(&config.cache_dir));
        let ca_file = ca_file
            .transpose()
            .map_err(|error| unusable(&config.cache_dir, &error))?;
        let network = config.network.clone();
        let confinement = Confinement::start(&config.confinement, &config.deno.path)?;
        let sandbox = SandboxConfig {
            confinement: Arc::clone(&confinement),
            cache_dir: config.cache_dir.clone(),
            runtime,
            network,
            ca_file,
        };
        let builder = BuilderConfig {
            confinement,
            cache_dir: config.cache_dir.clone(),
            kept_in: config.kept_in.clone(),
            registry_env: config.registry_env.clone(),
            code_bytes_max: CODE_BYTES_MAX,
            network: config.network.clone(),
            ca: config.ca.clone(),
        };
        let sandbox = Arc::new(Sandbox::new(sandbox)?);
        let describer = ThrowawayWorkers::new(Arc::clone(&sandbox), &config.cache_dir)?;
        let builder = Builder::new(builder, Arc::new(describer))?;
        Ok((config, sandbox, Arc::new(builder)))
    }
}

impl DenoEngine {
    fn layers(&self) -> BTreeMap<String, bool> {
        let mut layers = self.sandbox.layers();
        layers.insert("abstract_sockets".into(), self.closes_sockets);
        layers
    }
}

/// Whether components reach no Unix socket except the node's; without that one they need none at all.
fn closes_sockets(sandbox: &Sandbox, api_socket: Option<&PathBuf>, routes: &[Route]) -> bool {
    let leads_to_node = routes
        .iter()
        .any(|route| route.destination == Destination::ThisNode);
    let closed = match api_socket.is_some() && leads_to_node {
        true => sandbox.scopes_sockets(),
        false => sandbox.filters_calls(),
    };
    if !closed {
        tracing::warn!(
            "components can reach abstract Unix sockets of this machine: with --self-alias, closing them takes \
             Linux 6.12 or later with Landlock"
        );
    }
    closed
}

/// Bytes that may still be written to the disk of a folder.
fn free_bytes(folder: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn unusable(folder: &std::path::Path, error: &io::Error) -> EngineError {
    EngineError::Unavailable {
        context: format!("preparing the folder {}", folder.display()),
        reason: error.to_string(),
    }
}

#[async_trait]
impl Engine for DenoEngine {
    async fn build(&self, request: BuildRequest) -> Result<Result<Build, Rejection>, EngineError> {
        self.builder.build(request).await
    }

    fn forget_registry_answers(&self) {
        self.builder.forget_registry_answers();
    }

    async fn package_modules(
        &self,
        package: &PackageReference,
        owner: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        self.builder.package_modules(package, owner).await
    }

    async fn invoke(
        &self,
        worker: &WorkerSpec,
        invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError> {
        self.pool.invoke(worker, &invocation, &sink).await
    }

    async fn forget_tmp(&self, owner: &WorkerOwner, tmp: &str) {
        self.pool.forget_tmp(owner, tmp);
    }

    async fn release(&self, owner: &WorkerOwner) -> bool {
        self.pool.release(owner).await
    }

    async fn evict(&self, owner: &WorkerOwner) {
        self.pool.evict(owner).await;
    }

    fn status(&self) -> EngineStatus {
        let counts = self.pool.counts();
        EngineStatus {
            runtime_version: self.runtime_version.clone(),
            warm_workers: counts.warm_workers,
            source_workers: counts.source_workers,
            runs: counts.runs,
            routes: self.routes,
            ca_certificates: self.ca_certificates,
            sandbox: self.layers(),
            can_build: !self.builder.lacks_bundler(),
            free_bytes: free_bytes(&self.work_dir),
        }
    }

    async fn check_writing(&self) -> Result<(), EngineError> {
        self.folders.check().await
    }

    async fn shutdown(&self) {
        self.pool.shutdown().await;
        if let Err(error) = folder::wipe(&self.work_dir) {
            tracing::warn!(%error, "workers' folders cannot be removed");
        }
    }
}
