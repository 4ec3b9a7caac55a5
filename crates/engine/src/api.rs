//! The engine as the platform sees it. [`Engine`] is a trait so that use cases can be tested
//! against a scripted one; the real one is `DenoEngine`.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::{
    component::Description,
    event::Emit,
    hash::ArtifactHash,
    id::{DeploymentId, InvocationId, SourceId},
    outcome::{ComponentError, Outcome},
    package::PackageReference,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc;
use url::Url;

use crate::{data_store::StoreRequest, json_if_any, response::Response, step::StepMessage};

/// An error of the host. A component's own fault is an [`Outcome`] or a [`Rejection`], never this.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum EngineError {
    /// A process could not be started (or the JavaScript runtime is missing).
    #[error("could not start a worker: {0}")]
    Spawn(String),
    /// A worker's answer violates the protocol.
    #[error("worker protocol violated: {0}")]
    Protocol(String),
    /// A worker went away before it could be used.
    #[error("worker lost: {0}")]
    WorkerLost(String),
    /// Too many requests of the same owner wait; the text says of which kind.
    #[error("{0}")]
    Busy(String),
    /// Package registry, file system or store failed while building or loading.
    #[error("{context}: {reason}")]
    Unavailable {
        /// The step that failed.
        context: String,
        /// The cause, with the next step.
        reason: String,
    },
}

/// The origin of a component's code.
#[derive(Debug, Clone)]
pub enum ComponentCode {
    /// The text itself (`component_code`).
    Text(String),
    /// A module to fetch; its relative imports are resolved against the URL (`component_url`).
    Url(Url),
    /// A file of several; its relative imports lead to the others.
    Folder {
        /// The file with the component, one of the following.
        entry: String,
        /// Texts by path within the folder, with `/` between its parts.
        files: Arc<BTreeMap<String, String>>,
    },
}

/// A part of a build that may take a while, in their order. A build has only those that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildPart {
    /// It waits for its turn.
    Queue,
    /// Its modules are gathered, those at a URL fetched.
    Modules,
    /// Its packages are resolved and downloaded.
    Packages,
    /// Its modules and packages become one.
    Bundle,
    /// It is packed, and describes itself.
    Describe,
}

/// Somebody who is told of each part of a build as it begins.
#[derive(Clone, Default)]
pub struct BuildObserver(Option<Arc<dyn Fn(BuildPart) + Send + Sync>>);

impl BuildObserver {
    /// One that hears by a function, which must not block.
    pub fn new(hear: impl Fn(BuildPart) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(crate) fn begins(&self, part: BuildPart) {
        if let Some(hear) = &self.0 {
            hear(part);
        }
    }
}

impl fmt::Debug for BuildObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BuildObserver")
            .field(&self.0.is_some())
            .finish()
    }
}

/// A component to build.
#[derive(Debug, Clone)]
pub struct BuildRequest {
    /// Its code.
    pub code: ComponentCode,
    /// Version ranges by package, for imports without one; otherwise the latest release is used.
    pub ranges: BTreeMap<String, String>,
    /// The owner of the build. Owners take turns.
    pub owner: String,
    /// Whether it is a step of a workflow, which needs neither a name nor a version.
    pub is_step: bool,
    /// Somebody who follows the build.
    pub observer: BuildObserver,
}

impl From<ComponentCode> for BuildRequest {
    fn from(code: ComponentCode) -> Self {
        Self {
            code,
            ranges: BTreeMap::new(),
            owner: String::new(),
            is_step: false,
            observer: BuildObserver::default(),
        }
    }
}

/// Everything a worker needs to run a component, as one archive: byte-identical on every node, offline.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// SHA-256 of `bytes`, hexadecimal.
    pub hash: ArtifactHash,
    /// A compressed tar archive of the code folder.
    pub bytes: Bytes,
}

/// A component that was resolved, locked and described.
#[derive(Debug, Clone)]
pub struct Build {
    /// The code as saved: the given text, or the response of the URL.
    pub code: String,
    /// The archive that workers run.
    pub artifact: Artifact,
    /// Resolved package versions and their integrity, as Deno's lock file text.
    pub lock: String,
    /// The component's description of itself.
    pub description: Description,
}

/// The stage at which building stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStage {
    /// The URL did not answer with a module.
    Fetch,
    /// The code does not parse, or an import cannot be resolved.
    Resolve,
    /// Evaluating the module threw, or its export is not a component.
    Evaluate,
}

/// The reason why a component cannot be saved: a fault of its own, to be shown to its author.
#[derive(Debug, Clone)]
pub struct Rejection {
    /// The stage at which building stopped.
    pub stage: BuildStage,
    /// The message and, where there is one, the stack.
    pub error: ComponentError,
}

/// The components of an npm package.
#[derive(Debug, Clone)]
pub struct PackageModules {
    /// The package with the version it resolved to, and no path.
    pub package: PackageReference,
    /// Paths of files in it, sorted.
    pub modules: Vec<String>,
}

/// The method of a component to call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// `run(event)`.
    Run,
    /// A lifecycle hook.
    Hook {
        /// The hook.
        name: Hook,
    },
    /// The async options of a prop.
    Options {
        /// The prop's name.
        prop: String,
        /// 0-indexed.
        page: u32,
        /// The `context` that the previous page returned.
        prev_context: Option<Value>,
        /// The text that the user typed.
        query: Option<String>,
    },
    /// `additionalProps`.
    AdditionalProps,
    /// `run({ steps, $ })` of a step of a workflow; the event is the step's input.
    Step,
    /// Expressions of a workflow; the event has the questions, and the outcome their answers.
    Evaluate,
}

/// A lifecycle hook (docs/guide/writing-a-component.md, "Hooks").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    /// On each deploy, before `activate`.
    Deploy,
    /// On each deploy, update and activation.
    Activate,
    /// On each deactivation, update and deletion.
    Deactivate,
}

impl Hook {
    /// The name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
        }
    }
}

/// Names a run to its caller; unique per sink.
pub type RunId = u64;

/// One call of a component's code.
#[derive(Debug)]
pub struct Invocation {
    /// Chosen by the caller; comes back with every message of the run.
    pub run: RunId,
    /// The method to call.
    pub entry: Entry,
    /// The event that `run` gets, as JSON text.
    pub event: Arc<RawValue>,
    /// Final prop values: defaults filled in, `{"$auth": …}` for apps, `{"endpoint": …}` for HTTP interfaces.
    pub props: Map<String, Value>,
    /// Its own limit of time, instead of the engine's.
    pub wall: Option<Duration>,
}

/// The parts of a component that only the store has. Each is read at most once per load.
#[async_trait]
pub trait WorkerState: Send + Sync {
    /// The archive of the code folder; read only if this node has not unpacked it yet.
    async fn artifact(&self) -> Result<Bytes, EngineError>;
    /// The source's whole key-value map, every committed write included.
    async fn key_values(&self) -> Result<Map<String, Value>, EngineError>;
}

/// The owner of a place in a worker; a place has one owner. The engine decides whether a worker has several places, but
/// never gives places in one worker to two tenants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkerOwner {
    /// A source, which keeps its place across runs.
    Source(SourceId),
    /// A single call, such as one run of an action; its caller evicts the worker.
    Call(InvocationId),
    /// Steps of a deployed workflow. All steps of a deployment share a worker, whatever the isolation.
    Step {
        /// The deployment.
        deployment: DeploymentId,
        /// The steps that share the place: they have the same code, and the same key-value map.
        place: Arc<str>,
    },
}

impl From<SourceId> for WorkerOwner {
    fn from(id: SourceId) -> Self {
        Self::Source(id)
    }
}

/// The place in a worker that an invocation needs: its owner's existing one, or a new one.
#[derive(Clone)]
pub struct WorkerSpec {
    /// The owner of the place.
    pub owner: WorkerOwner,
    /// The tenant whose limits and turns it shares.
    pub tenant: Arc<str>,
    /// Whether it shares no worker with others.
    pub is_isolated: bool,
    /// The worker's heap in MiB, if it is not the engine's. All that may share a worker have to want the same one: the
    /// steps of a deployment do.
    pub heap_mib: Option<u32>,
    /// [`Artifact::hash`] of the code.
    pub artifact_hash: ArtifactHash,
    /// `process.env` of the component (`PD_COMPONENT`).
    pub env: BTreeMap<String, String>,
    /// Loads the rest.
    pub state: Arc<dyn WorkerState>,
}

/// The seriousness of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// `console.debug`.
    Debug,
    /// `console.log`, `console.info`, writes to stdout.
    Info,
    /// `console.warn`, and the platform's own remarks.
    Warn,
    /// `console.error`, writes to stderr.
    Error,
}

/// A write to `$.service.db`. `seq` increases as long as the component is in its worker, so that the last write of a key
/// wins even when runs end in another order than they wrote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KvChange {
    /// Position among the component's writes.
    pub seq: u64,
    /// The key.
    pub key: String,
    /// The value as JSON text; `None` deletes the key.
    #[serde(with = "json_if_any")]
    pub value: Option<Box<RawValue>>,
}

/// A value that an action exported to later steps, or to the caller of a single run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Export {
    /// Its name; `$summary` is for people.
    pub name: String,
    /// JSON text; `None` for `undefined`.
    #[serde(with = "json_if_any")]
    pub value: Option<Box<RawValue>>,
}

/// A message of a run to its caller, in the order of the component's calls. `Outcome` is the last.
#[derive(Debug)]
pub enum RunMessage {
    /// `$emit` was called.
    Emit(Emit),
    /// `respond()` was called; at most once per run.
    Respond(Response),
    /// A line was logged.
    Log {
        /// The seriousness.
        level: LogLevel,
        /// The text.
        text: String,
    },
    /// A key was written.
    KvChanged(KvChange),
    /// `$.export` was called.
    Exported(Export),
    /// `$.flow.exit` was called, with this reason: no further step is to run.
    Exited(String),
    /// A data store operation was requested; the run waits for the answer.
    StoreAsked(StoreRequest),
    /// A step said something that only steps of workflows say.
    Step(StepMessage),
    /// The run ended. When its worker died with it, everything sent before still counts.
    Outcome(Outcome),
}

/// The receiver of a run's messages: one sink may serve many runs, and sees their messages in the worker's order.
pub type RunSink = mpsc::UnboundedSender<(RunId, RunMessage)>;

/// The state of an engine, for `/readyz`, metrics and `doctor`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EngineStatus {
    /// Deno's version.
    pub runtime_version: String,
    /// Warm workers that belong to no source yet.
    pub warm_workers: usize,
    /// Workers that belong to a source.
    pub source_workers: usize,
    /// Runs in flight.
    pub runs: usize,
    /// Host names that are routed to other addresses for components.
    pub routes: usize,
    /// Certificates trusted in addition to those of the public authorities.
    pub ca_certificates: usize,
    /// Whether components can be built: false if the bundler is unavailable; saved sources run without it.
    pub can_build: bool,
    /// Sandbox layers that apply on this machine, by name, and whether they are on.
    pub sandbox: BTreeMap<String, bool>,
    /// Bytes that may still be written to the disk of the node's folders, where that can be told.
    pub free_bytes: Option<u64>,
}

/// Builds components and runs them.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// Resolves, locks and describes a component.
    ///
    /// # Errors
    /// [`EngineError`] when the host failed; a component at fault is `Ok(Err(Rejection))`.
    async fn build(&self, request: BuildRequest) -> Result<Result<Build, Rejection>, EngineError>;

    /// Makes the next builds query the package registry again, ignoring cached answers.
    /// Does nothing in an engine without such a cache.
    fn forget_registry_answers(&self) {}

    /// Resolves a package and lists its modules that look like components (`sources/` and `actions/`).
    /// A path in `package` is ignored; `owner` is as in [`BuildRequest::owner`].
    ///
    /// # Errors
    /// [`EngineError`] when the host or the package registry failed; a package that does not exist
    /// is `Ok(Err(Rejection))`.
    async fn package_modules(
        &self,
        package: &PackageReference,
        owner: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError>;

    /// Starts a run. Returns once the worker has it; its messages, the last an `Outcome`, go to `sink`.
    ///
    /// # Errors
    /// No worker was available; nothing was sent to `sink`, and no code of the component has run.
    async fn invoke(
        &self,
        worker: &WorkerSpec,
        invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError>;

    /// Has the worker of a deployment remove the `/tmp` of a run, if there is such a worker and such a folder.
    async fn forget_tmp(&self, owner: &WorkerOwner, tmp: &str);

    /// Removes the owner from its worker, if it has one, unless it has runs there. Whether it has no place any more; an engine
    /// whose owners never move refuses.
    async fn release(&self, _owner: &WorkerOwner) -> bool {
        false
    }

    /// Removes the owner from its worker, if it has one. A worker without other owners, or in which the owner has runs,
    /// ends: all of its runs end `Lost`, and the call waits until it is gone.
    async fn evict(&self, owner: &WorkerOwner);

    /// The state of the engine.
    fn status(&self) -> EngineStatus;

    /// The number of sources, deployments and single calls that have their place on each machine, by the machine's name. Empty
    /// in an engine of one machine.
    fn places(&self) -> BTreeMap<String, usize> {
        BTreeMap::new()
    }

    /// Sets whether a machine is to be given nothing more. Does nothing in an engine of one machine.
    fn spare(&self, _machine: &str, _is_spared: bool) {}

    /// Tries whether the folders for the code of components can be written. Does nothing in an engine without such folders.
    ///
    /// # Errors
    /// `Unavailable` with the folder and the reason, when one cannot.
    async fn check_writing(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Ends every worker and waits until they are gone.
    async fn shutdown(&self);
}
