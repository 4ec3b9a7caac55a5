//! The engine that the platform runs on: components in Deno processes.
//!
//! Responsible for: putting the builder, the sandbox and the pool together. Not for what they do.

use std::{ffi::OsString, io, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use headwater_model::{limits::RunLimits, package::PackageReference};

use crate::{
    api::{
        Build, ComponentCode, Engine, EngineError, EngineStatus, Invocation, PackageModules,
        Rejection, RunSink, WorkerOwner, WorkerSpec,
    },
    build::{Builder, BuilderConfig, ThrowawayWorkers},
    deno::Deno,
    network::{CaCertificates, NetworkPolicy, Route},
    pool::{Pool, PoolConfig},
    runtime_files::RuntimeFiles,
    sandbox::{self, Sandbox, SandboxConfig},
    worker::{WorkerLaunch, folder},
};

/// What a worker holds besides V8's heap: Deno itself, code, buffers.
const BESIDES_HEAP_MIB: u64 = 256;
/// Disk that a worker's temporary files may take.
const TMP_MIB: u64 = 1024;

/// What an engine needs.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Deno, as [`crate::deno::locate`] found it.
    pub deno: Deno,
    /// What survives a restart and may be deleted while the node is down: downloaded packages, unpacked
    /// code, the runtime's files. Created if need be.
    pub cache_dir: PathBuf,
    /// Workers' folders. Emptied at the start and at shutdown: no two engines may share it.
    pub work_dir: PathBuf,
    /// Limits of every run.
    pub limits: RunLimits,
    /// What components, and fetches of component code, may reach.
    pub network: NetworkPolicy,
    /// Workers that are kept ready for sources that have none.
    pub warm_workers: usize,
    /// Memory of all sources' workers together, beyond which idle ones are ended.
    pub workers_memory_mib: u64,
    /// How long a source's worker waits for the next invocation before it is ended.
    pub worker_idle: Duration,
    /// Whose certificates both trust besides the web's authorities.
    pub ca: Option<CaCertificates>,
    /// Where components' requests to some host names go.
    pub routes: Vec<Route>,
    /// Where a route to this node leads: a Unix socket where this node's API listens, on the file system of `work_dir`.
    pub api_socket: Option<PathBuf>,
    /// Environment variables for the registry client: see [`BuilderConfig::registry_env`].
    pub registry_env: Vec<(OsString, OsString)>,
}

/// Builds components and runs them in Deno.
pub struct DenoEngine {
    runtime_version: String,
    builder: Builder,
    sandbox: Arc<Sandbox>,
    pool: Arc<Pool>,
    work_dir: PathBuf,
    routes: usize,
    ca_certificates: usize,
}

impl DenoEngine {
    /// An engine whose warm workers are starting. Has to be called in a runtime of Tokio.
    ///
    /// # Errors
    /// A folder cannot be made, or something that processes need cannot be set up.
    pub async fn start(config: EngineConfig) -> Result<Arc<Self>, EngineError> {
        let prepared = tokio::task::spawn_blocking(move || Self::prepare(config)).await;
        let (config, sandbox, builder) =
            prepared.map_err(|error| EngineError::Spawn(error.to_string()))??;
        let routes = config.routes.len();
        let launch = WorkerLaunch {
            sandbox: Arc::clone(&sandbox),
            work_dir: config.work_dir.clone(),
            limits: config.limits.clone(),
            routes: config.routes,
            api_socket: config.api_socket,
        };
        let pool = PoolConfig {
            warm_workers: config.warm_workers,
            memory_bytes: config.workers_memory_mib << 20,
            worker_memory_bytes: (u64::from(config.limits.heap_mib) + BESIDES_HEAP_MIB) << 20,
            worker_tmp_bytes: TMP_MIB << 20,
            idle: config.worker_idle,
            artifacts_dir: config.cache_dir.join("artifacts"),
        };
        let runtime_version = config.deno.version;
        let pool = Pool::start(pool, launch);
        Ok(Arc::new(Self {
            runtime_version,
            builder,
            sandbox,
            pool,
            work_dir: config.work_dir,
            routes,
            ca_certificates: config.ca.map_or(0, |ca| ca.count()),
        }))
    }

    /// What is on disk before the first process.
    fn prepare(
        mut config: EngineConfig,
    ) -> Result<(EngineConfig, Arc<Sandbox>, Builder), EngineError> {
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
        // Apart from the builder's: what it downloads is nothing that a worker may import.
        let deno_dir = config.cache_dir.join("deno-workers");
        let network = config.network.clone();
        let sandbox = SandboxConfig {
            deno: config.deno.path.clone(),
            deno_dir,
            runtime,
            network,
            ca_file,
        };
        let builder = BuilderConfig {
            deno: config.deno.path.clone(),
            cache_dir: config.cache_dir.clone(),
            registry_env: config.registry_env.clone(),
            network: config.network.clone(),
            ca: config.ca.clone(),
        };
        let sandbox = Arc::new(Sandbox::new(sandbox)?);
        let builder = Builder::new(
            builder,
            Arc::new(ThrowawayWorkers::new(Arc::clone(&sandbox))),
        )?;
        Ok((config, sandbox, builder))
    }
}

fn unusable(folder: &std::path::Path, error: &io::Error) -> EngineError {
    EngineError::Unavailable {
        context: format!("preparing the folder {}", folder.display()),
        reason: error.to_string(),
    }
}

#[async_trait]
impl Engine for DenoEngine {
    async fn build(&self, code: ComponentCode) -> Result<Result<Build, Rejection>, EngineError> {
        self.builder.build(code).await
    }

    fn forget_registry_answers(&self) {
        self.builder.forget_registry_answers();
    }

    async fn package_modules(
        &self,
        package: &PackageReference,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        self.builder.package_modules(package).await
    }

    async fn invoke(
        &self,
        worker: &WorkerSpec,
        invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError> {
        self.pool.invoke(worker, &invocation, &sink).await
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
            sandbox: self.sandbox.layers(),
        }
    }

    async fn shutdown(&self) {
        self.pool.shutdown().await;
        if let Err(error) = folder::wipe(&self.work_dir) {
            tracing::warn!(%error, "workers' folders cannot be removed");
        }
    }
}
