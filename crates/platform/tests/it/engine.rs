//! An engine whose components do what the test says.
//!
//! A component's code is its description as JSON. Its hooks return at once and its runs are handed
//! to the test ([`FakeEngine::next`]), unless a script says otherwise ([`FakeEngine::on`],
//! [`FakeEngine::hold`]). A worker keeps its source's key-value map, as the real one does.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{
    Artifact, Build, BuildRequest, BuildStage, ComponentCode, Engine, EngineError, EngineStatus,
    Entry, Export, Hook, Invocation, KvChange, LogLevel, PackageModules, Rejection, Replier,
    Response, RunId, RunMessage, RunSink, Service, ServiceRequest, StepMessage, StoreOperation,
    StoreReply, StoreRequest, WorkerOwner, WorkerSpec,
};
use headwater_model::{
    component::Description,
    event::{Emit, EmitOptions},
    hash::ArtifactHash,
    id::SourceId,
    outcome::{ComponentError, Limit, Outcome},
    package::PackageReference,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json, value::RawValue};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};

use crate::expressions;

/// The name of runs that evaluate the expressions of a workflow.
const EVALUATOR: &str = "expressions";

/// A test that waits longer for a run has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What is called of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Run,
    Deploy,
    Activate,
    Deactivate,
    Options,
    AdditionalProps,
}

type Act = Arc<dyn Fn(&Run) -> Outcome + Send + Sync>;

#[derive(Clone)]
enum Script {
    Hold,
    Do(Act),
}

#[derive(Default)]
struct Inner {
    scripts: HashMap<(String, Call), Script>,
    workers: HashMap<WorkerOwner, Arc<Worker>>,
    calls: Vec<String>,
    failing_starts: usize,
}

/// A worker of one owner.
struct Worker {
    name: String,
    artifact_hash: ArtifactHash,
    state: Mutex<WorkerState>,
}

struct WorkerState {
    db: Map<String, Value>,
    writes: u64,
    /// Runs in flight.
    runs: BTreeMap<RunId, RunSink>,
}

/// A run that the test drives. It lasts until one of the methods that end it.
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) call: Call,
    owner: WorkerOwner,
    pub(crate) event: Value,
    pub(crate) props: Map<String, Value>,
    id: RunId,
    sink: RunSink,
    worker: Arc<Worker>,
}

pub(crate) struct FakeEngine {
    inner: Mutex<Inner>,
    hand_over: mpsc::UnboundedSender<Run>,
    handed_over: tokio::sync::Mutex<mpsc::UnboundedReceiver<Run>>,
}

impl FakeEngine {
    pub(crate) fn new() -> Arc<Self> {
        let (hand_over, handed_over) = mpsc::unbounded_channel();
        Arc::new(Self {
            inner: Mutex::default(),
            hand_over,
            handed_over: tokio::sync::Mutex::new(handed_over),
        })
    }

    /// From now on this call of that component does this, at once.
    pub(crate) fn on(
        &self,
        name: &str,
        call: Call,
        act: impl Fn(&Run) -> Outcome + Send + Sync + 'static,
    ) {
        self.script(name, call, Script::Do(Arc::new(act)));
    }

    /// From now on this call of that component is handed to the test.
    pub(crate) fn hold(&self, name: &str, call: Call) {
        self.script(name, call, Script::Hold);
    }

    fn script(&self, name: &str, call: Call, script: Script) {
        self.inner
            .lock()
            .scripts
            .insert((name.to_owned(), call), script);
    }

    /// The next so many starts of a run fail: there is no worker to be had.
    pub(crate) fn fail_starts(&self, count: usize) {
        self.inner.lock().failing_starts = count;
    }

    /// The next run that is handed to the test.
    pub(crate) async fn next(&self) -> Run {
        let mut handed_over = self.handed_over.lock().await;
        let run = tokio::time::timeout(PATIENCE, handed_over.recv()).await;
        run.expect("a run is started").expect("the engine is there")
    }

    /// Whether no run waits for the test.
    pub(crate) fn nothing_started(&self) -> bool {
        self.handed_over
            .try_lock()
            .is_ok_and(|handed_over| handed_over.is_empty())
    }

    /// What was called since this was last asked, as `name call`, and `evict`.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.lock().calls)
    }

    /// The owner's worker: the one it has if that runs this artifact, else a fresh one.
    async fn worker(&self, spec: &WorkerSpec) -> Result<Arc<Worker>, EngineError> {
        let known = self.inner.lock().workers.get(&spec.owner).cloned();
        if let Some(worker) = known {
            assert_eq!(
                worker.artifact_hash, spec.artifact_hash,
                "other code needs a fresh worker"
            );
            return Ok(worker);
        }
        let source_id = match &spec.owner {
            WorkerOwner::Source(id) => Some(id.as_str()),
            WorkerOwner::Call(_) | WorkerOwner::Step { .. } => None,
        };
        assert_eq!(spec.env.get("PD_COMPONENT").map(String::as_str), source_id);
        let (code, db) = (spec.state.artifact().await?, spec.state.key_values().await?);
        // The evaluator of workflows has no code, and so no description.
        let description = serde_json::from_slice::<Description>(&code);
        let fresh = Arc::new(Worker {
            name: description.map_or_else(|_| EVALUATOR.to_owned(), |described| described.name),
            artifact_hash: spec.artifact_hash.clone(),
            state: Mutex::new(WorkerState {
                db,
                writes: 0,
                runs: BTreeMap::new(),
            }),
        });
        let mut inner = self.inner.lock();
        let worker = inner.workers.entry(spec.owner.clone()).or_insert(fresh);
        Ok(Arc::clone(worker))
    }

    fn end_worker(&self, owner: &WorkerOwner) {
        let worker = self.inner.lock().workers.remove(owner);
        if let Some(worker) = worker {
            worker.lose();
        }
    }

    fn script_of(&self, name: &str, call: Call, event: &Value) -> Script {
        let known = self
            .inner
            .lock()
            .scripts
            .get(&(name.to_owned(), call))
            .cloned();
        let returns = || Script::Do(Arc::new(|_| Outcome::Returned { value: None }));
        match call {
            Call::Run if event.get("$barrier").is_some() => returns(),
            Call::Run if name == EVALUATOR => Script::Do(Arc::new(expressions::answer)),
            Call::Run => known.unwrap_or(Script::Hold),
            Call::Deploy
            | Call::Activate
            | Call::Deactivate
            | Call::Options
            | Call::AdditionalProps => known.unwrap_or_else(returns),
        }
    }
}

#[async_trait]
impl Engine for FakeEngine {
    async fn build(&self, request: BuildRequest) -> Result<Result<Build, Rejection>, EngineError> {
        let code = match request.code {
            ComponentCode::Text(code) => code,
            ComponentCode::Folder { entry, files } => files[&entry].clone(),
            ComponentCode::Url(_) => {
                return Err(EngineError::Unavailable {
                    context: "fetching the component".to_owned(),
                    reason: "there is no network here".to_owned(),
                });
            }
        };
        let description: Description = match serde_json::from_str(&code) {
            Ok(description) => description,
            Err(error) => {
                return Ok(Err(Rejection {
                    stage: BuildStage::Evaluate,
                    error: error_named("SyntaxError", &error.to_string()),
                }));
            }
        };
        Ok(Ok(Build {
            artifact: Artifact {
                hash: ArtifactHash::new(hex::encode(Sha256::digest(code.as_bytes()))),
                bytes: Bytes::from(code.clone()),
            },
            code,
            lock: "{}".to_owned(),
            description,
        }))
    }

    async fn package_modules(
        &self,
        package: &PackageReference,
        _owner: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        Err(EngineError::Unavailable {
            context: format!("getting {package} from the registry"),
            reason: "there is no network here".to_owned(),
        })
    }

    async fn invoke(
        &self,
        worker: &WorkerSpec,
        invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError> {
        {
            let mut inner = self.inner.lock();
            if inner.failing_starts > 0 {
                inner.failing_starts -= 1;
                return Err(EngineError::Spawn("no memory is left".to_owned()));
            }
        }
        let owner = worker.owner.clone();
        let worker = self.worker(worker).await?;
        let call = match invocation.entry {
            Entry::Hook { name: Hook::Deploy } => Call::Deploy,
            Entry::Hook {
                name: Hook::Activate,
            } => Call::Activate,
            Entry::Hook {
                name: Hook::Deactivate,
            } => Call::Deactivate,
            Entry::Run | Entry::Step | Entry::Evaluate => Call::Run,
            Entry::Options { .. } => Call::Options,
            Entry::AdditionalProps => Call::AdditionalProps,
        };
        worker
            .state
            .lock()
            .runs
            .insert(invocation.run, sink.clone());
        let run = Run {
            name: worker.name.clone(),
            call,
            owner,
            event: serde_json::from_str(invocation.event.get()).unwrap(),
            props: invocation.props,
            id: invocation.run,
            sink,
            worker,
        };
        let said = format!("{} {call:?}", run.name).to_lowercase();
        self.inner.lock().calls.push(said);
        match self.script_of(&run.name, call, &run.event) {
            Script::Hold => drop(self.hand_over.send(run)),
            Script::Do(act) => {
                let outcome = act(&run);
                run.ends(outcome);
            }
        }
        Ok(())
    }

    async fn forget_tmp(&self, _owner: &WorkerOwner, _tmp: &str) {}

    async fn evict(&self, owner: &WorkerOwner) {
        self.inner.lock().calls.push("evict".to_owned());
        self.end_worker(owner);
    }

    fn status(&self) -> EngineStatus {
        EngineStatus {
            can_build: true,
            ..EngineStatus::default()
        }
    }

    async fn shutdown(&self) {
        let workers = std::mem::take(&mut self.inner.lock().workers);
        workers.values().for_each(|worker| worker.lose());
    }
}

impl Worker {
    /// Every run in flight ends `Lost`.
    fn lose(&self) {
        let runs = std::mem::take(&mut self.state.lock().runs);
        for (id, sink) in runs {
            let message = "the worker was ended".to_owned();
            let _ = sink.send((id, RunMessage::Outcome(Outcome::Lost { message })));
        }
    }
}

impl Run {
    /// A message that only steps of workflows send.
    pub(crate) fn step(&self, message: StepMessage) {
        self.say(RunMessage::Step(message));
    }

    /// The source whose run it is.
    pub(crate) fn source_id(&self) -> &SourceId {
        match &self.owner {
            WorkerOwner::Source(id) => id,
            WorkerOwner::Call(_) | WorkerOwner::Step { .. } => panic!("not a source's run"),
        }
    }

    pub(crate) fn emit(&self, event: Value) {
        self.emit_with(event, json!({}));
    }

    /// `$emit(event, options)`.
    pub(crate) fn emit_with(&self, event: Value, options: Value) {
        let options: EmitOptions = serde_json::from_value(options).unwrap();
        let event = raw(&event);
        self.say(RunMessage::Emit(Emit { event, options }));
    }

    pub(crate) fn log(&self, text: &str) {
        self.say(RunMessage::Log {
            level: LogLevel::Info,
            text: text.to_owned(),
        });
    }

    /// `this.db.set`; null deletes.
    pub(crate) fn set(&self, key: &str, value: Value) {
        let seq = {
            let mut state = self.worker.state.lock();
            state.db.insert(key.to_owned(), value.clone());
            state.writes += 1;
            state.writes
        };
        self.say(RunMessage::KvChanged(KvChange {
            seq,
            key: key.to_owned(),
            value: (!value.is_null()).then(|| raw(&value)),
        }));
    }

    /// `this.db.get`.
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        self.worker.state.lock().db.get(key).cloned()
    }

    pub(crate) fn respond(&self, status: u16, body: &str) {
        self.say(RunMessage::Respond(Response {
            status,
            headers: Vec::new(),
            body: Bytes::from(body.to_owned()),
        }));
    }

    pub(crate) fn export(&self, name: &str, value: Value) {
        self.say(RunMessage::Exported(Export {
            name: name.to_owned(),
            value: Some(raw(&value)),
        }));
    }

    pub(crate) fn exit(&self, reason: &str) {
        self.say(RunMessage::Exited(reason.to_owned()));
    }

    /// An operation on a data store, and what comes of it.
    pub(crate) async fn asks(&self, store: &str, operation: StoreOperation) -> StoreReply {
        self.ask(store, operation).await.unwrap()
    }

    /// The same, not awaited yet.
    pub(crate) fn ask(
        &self,
        store: &str,
        operation: StoreOperation,
    ) -> oneshot::Receiver<StoreReply> {
        let (sender, answer) = oneshot::channel();
        self.say(RunMessage::StoreAsked(StoreRequest {
            store: store.to_owned(),
            operation,
            reply: Replier::new(move |reply| drop(sender.send(reply)), async {}),
        }));
        answer
    }

    /// A request to a service of the platform, not awaited yet.
    pub(crate) fn serve(
        &self,
        service: Service,
        operation: &str,
        arguments: &Value,
    ) -> oneshot::Receiver<StoreReply> {
        let (sender, answer) = oneshot::channel();
        self.step(StepMessage::Asked(ServiceRequest {
            service,
            operation: operation.to_owned(),
            arguments: raw(arguments),
            reply: Replier::new(move |reply| drop(sender.send(reply)), async {}),
        }));
        answer
    }

    pub(crate) fn returns(self) {
        self.ends(Outcome::Returned { value: None });
    }

    pub(crate) fn throws(self, message: &str) {
        self.ends(thrown(message));
    }

    pub(crate) fn times_out(self) {
        self.ends(Outcome::LimitExceeded {
            limit: Limit::Wall,
            message: "ran longer than 60 s".to_owned(),
        });
    }

    pub(crate) fn ends(self, outcome: Outcome) {
        let in_flight = self.worker.state.lock().runs.remove(&self.id);
        if in_flight.is_some() {
            self.say(RunMessage::Outcome(outcome));
        }
    }

    /// The worker dies; every run in it is lost, and the next one gets a fresh worker.
    pub(crate) fn loses_worker(self, engine: &FakeEngine) {
        engine.end_worker(&self.owner);
    }

    fn say(&self, message: RunMessage) {
        let _ = self.sink.send((self.id, message));
    }
}

/// The outcome of code that threw.
pub(crate) fn thrown(message: &str) -> Outcome {
    Outcome::Threw {
        error: error_named("TypeError", message),
    }
}

/// The outcome of code that returned this.
pub(crate) fn returned_with(value: Value) -> Outcome {
    Outcome::Returned { value: Some(value) }
}

/// The outcome of code that returned.
pub(crate) fn returned() -> Outcome {
    Outcome::Returned { value: None }
}

fn error_named(name: &str, message: &str) -> ComponentError {
    ComponentError {
        name: name.to_owned(),
        message: message.to_owned(),
        stack: format!("{name}: {message}\n    at component.mjs:3:7"),
        code: None,
        status: None,
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}
