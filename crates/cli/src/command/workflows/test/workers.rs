//! The real engine under the tests: one for all of them, so that code is built once. It lives longer than the nodes of the
//! tests; the workers of a node end with it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use headwater_engine::confine::ConfinementConfig;
use headwater_engine::network::{NetworkPolicy, Route};
use headwater_engine::{
    Build, BuildRequest, ComponentCode, DenoEngine, Engine, EngineConfig, EngineError, Invocation,
    Isolation, Rejection, RunSink, WorkerOwner, WorkerRoom, WorkerSpec,
};
use headwater_model::{hash::ArtifactHash, limits::RunLimits, prop::PropKind};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use crate::{launcher, runtime};

/// The folder of what later tests use again, in the user's cache.
const CACHE: &str = "workflow-tests";
const WORKERS_MEMORY_MIB: u64 = 2048;
const WORKER_IDLE: Duration = Duration::from_secs(300);

/// The engine, and what it has done so far.
pub(super) struct Workers {
    engine: Arc<DenoEngine>,
    /// The runtime that the engine lives in: nothing of it may be a part of a node that is killed.
    handle: Handle,
    builds: Mutex<HashMap<String, Build>>,
    /// App props by the code that has them.
    apps: Mutex<HashMap<ArtifactHash, Vec<String>>>,
    owners: Mutex<HashSet<WorkerOwner>>,
}

impl Workers {
    /// Starts an engine whose network is the socket and nothing else.
    ///
    /// # Errors
    /// The JavaScript runtime cannot be had, or a folder cannot be used.
    pub(super) async fn start(
        folder: &std::path::Path,
        socket: &std::path::Path,
    ) -> Result<Arc<Self>> {
        let cache_dir = runtime::cache_dir()?.join(CACHE);
        let config = EngineConfig {
            deno: runtime::locate().await?,
            confinement: ConfinementConfig {
                launcher: launcher::of_this_binary(),
                // The code is the person's own, and Deno keeps it from files and network all the same.
                allow_unconfined: true,
                scratch_dir: cache_dir.clone(),
            },
            cache_dir,
            kept_in: Some(runtime::deno_dir()?),
            work_dir: folder.join("workers"),
            limits: RunLimits::default(),
            network: NetworkPolicy::Nothing,
            ca: None,
            routes: vec![Route::to_this_node("*")],
            isolation: Isolation::default(),
            room: WorkerRoom::default(),
            warm_workers: 1,
            workers_memory_mib: WORKERS_MEMORY_MIB,
            rested_workers_memory_mib: WORKERS_MEMORY_MIB,
            workers_per_tenant: usize::MAX,
            worker_idle: WORKER_IDLE,
            api_socket: Some(socket.to_owned()),
            registry_env: runtime::client_env(),
        };
        Ok(Arc::new(Self {
            engine: DenoEngine::start(config).await?,
            handle: Handle::current(),
            builds: Mutex::default(),
            apps: Mutex::default(),
            owners: Mutex::default(),
        }))
    }

    pub(super) fn engine(&self) -> &DenoEngine {
        &self.engine
    }

    /// Builds a component, once.
    pub(super) async fn build(
        self: &Arc<Self>,
        request: BuildRequest,
    ) -> Result<Result<Build, Rejection>, EngineError> {
        let key = key(&request.code);
        if let Some(build) = self.builds.lock().get(&key) {
            return Ok(Ok(build.clone()));
        }
        let workers = Arc::clone(self);
        let built = self
            .within(async move { workers.engine.build(request).await })
            .await?;
        if let Ok(build) = &built {
            let props = build.description.props.iter();
            let apps = props.filter(|prop| prop.kind() == PropKind::App);
            let apps = apps.map(|prop| prop.name.clone()).collect();
            self.apps.lock().insert(build.artifact.hash.clone(), apps);
            self.builds.lock().insert(key, build.clone());
        }
        Ok(built)
    }

    /// The app props of code that was built here.
    pub(super) fn apps_of(&self, artifact: &ArtifactHash) -> Vec<String> {
        self.apps.lock().get(artifact).cloned().unwrap_or_default()
    }

    /// Starts a run in the engine's own runtime.
    pub(super) async fn invoke(
        self: &Arc<Self>,
        worker: WorkerSpec,
        invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError> {
        self.owners.lock().insert(worker.owner.clone());
        let workers = Arc::clone(self);
        self.within(async move { workers.engine.invoke(&worker, invocation, sink).await })
            .await
    }

    /// Ends every worker that code has run in, with all that is in its memory.
    pub(super) async fn end_all(&self) {
        let owners: Vec<WorkerOwner> = self.owners.lock().drain().collect();
        for owner in owners {
            self.engine.evict(&owner).await;
        }
    }

    /// Ends the engine with all of its workers.
    pub(super) async fn shutdown(&self) {
        self.engine.shutdown().await;
    }

    async fn within<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        let done = self.handle.spawn(work).await;
        done.unwrap_or_else(|error| Err(EngineError::WorkerLost(error.to_string())))
    }
}

/// Code as a key: all of its text.
fn key(code: &ComponentCode) -> String {
    match code {
        ComponentCode::Text(text) => text.clone(),
        ComponentCode::Url(url) => url.to_string(),
        ComponentCode::Folder { entry, files } => {
            // The definition differs from test to test, and no step imports it.
            let files = files
                .iter()
                .filter(|(path, _)| path.as_str() != crate::workflow::folder::DEFINITION_FILE);
            files.fold(entry.clone(), |key, (path, text)| {
                format!("{key}\0{path}\0{text}")
            })
        }
    }
}
