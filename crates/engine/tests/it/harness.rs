//! An engine of one's own, and sources whose component is a folder of `tests/components`.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{
    Artifact, DenoEngine, Engine, EngineConfig, EngineError, Entry, Hook, Invocation, Isolation,
    LogLevel, RunId, RunMessage, WorkerRoom, WorkerSpec, WorkerState, artifact, deno::Deno,
    network::NetworkPolicy,
};
use headwater_model::{
    id::SourceId,
    limits::RunLimits,
    outcome::{Limit, Outcome},
    time::EpochMs,
};
use serde_json::{Map, Value, json, value::RawValue};
use tokio::sync::mpsc;

use crate::support;

/// An engine with folders of its own; the cache is shared with other tests.
pub(crate) struct Node {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) work_dir: tempfile::TempDir,
}

/// An engine for tests, whose workers have their folders in `work_dir`.
pub(crate) async fn config(work_dir: &Path) -> EngineConfig {
    EngineConfig {
        deno: Deno {
            path: support::deno().await,
            version: "of the machine".into(),
        },
        confinement: support::confinement(),
        cache_dir: support::cache_dir(),
        kept_in: None,
        work_dir: work_dir.to_owned(),
        limits: RunLimits::default(),
        network: NetworkPolicy::PublicOnly,
        isolation: Isolation::Source,
        room: WorkerRoom::default(),
        warm_workers: 1,
        workers_memory_mib: 2048,
        rested_workers_memory_mib: 2048,
        workers_per_tenant: 64,
        worker_idle: Duration::from_secs(600),
        ca: None,
        routes: Vec::new(),
        api_socket: None,
        registry_env: Vec::new(),
    }
}

impl Node {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(configure: impl FnOnce(&mut EngineConfig)) -> Self {
        let work_dir = tempfile::tempdir().unwrap();
        let mut config = config(work_dir.path()).await;
        configure(&mut config);
        Self {
            engine: DenoEngine::start(config).await.unwrap(),
            work_dir,
        }
    }

    /// A node whose sources of one tenant share a worker.
    pub(crate) async fn sharing(configure: impl FnOnce(&mut EngineConfig)) -> Self {
        Self::with(|config| {
            config.isolation = Isolation::Owner;
            configure(config);
        })
        .await
    }

    /// Runs to the end.
    pub(crate) async fn run(&self, source: &Source, event: Value) -> Messages {
        self.invoke(source, Entry::Run, event, json!({}))
            .await
            .collect()
            .await
    }

    pub(crate) async fn hook(&self, source: &Source, name: Hook, props: Value) -> Messages {
        self.invoke(source, Entry::Hook { name }, Value::Null, props)
            .await
            .collect()
            .await
    }

    /// Starts a run that does what [`Source::named`] `steer` knows.
    pub(crate) async fn steer(&self, source: &Source, deed: &str) -> Running {
        self.invoke(source, Entry::Run, json!({ "deed": deed }), json!({}))
            .await
    }

    pub(crate) async fn invoke(
        &self,
        source: &Source,
        entry: Entry,
        event: Value,
        props: Value,
    ) -> Running {
        let started = self.try_invoke(source, entry, event, props).await;
        started.unwrap()
    }

    /// Starts a run, if a worker can be had.
    pub(crate) async fn start_run(
        &self,
        source: &Source,
        event: Value,
    ) -> Result<Running, EngineError> {
        self.try_invoke(source, Entry::Run, event, json!({})).await
    }

    async fn try_invoke(
        &self,
        source: &Source,
        entry: Entry,
        event: Value,
        props: Value,
    ) -> Result<Running, EngineError> {
        static LAST_RUN: AtomicU64 = AtomicU64::new(0);
        let run = LAST_RUN.fetch_add(1, Ordering::Relaxed);
        let event = RawValue::from_string(event.to_string()).unwrap();
        let Value::Object(props) = props else {
            panic!("props are an object")
        };
        let (sink, messages) = mpsc::unbounded_channel();
        let invocation = Invocation {
            run,
            entry,
            event: event.into(),
            props,
            wall: None,
        };
        self.engine.invoke(&source.spec, invocation, sink).await?;
        Ok(Running { run, messages })
    }

    /// Waits until the engine's status is as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&headwater_engine::EngineStatus) -> bool) {
        let reached = async {
            while !wanted(&self.engine.status()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reached)
            .await
            .expect("the status to be reached");
    }
}

/// A source and what the engine may ask about it.
pub(crate) struct Source {
    pub(crate) spec: WorkerSpec,
    pub(crate) state: Arc<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) artifact: Option<Artifact>,
    pub(crate) key_values: Map<String, Value>,
    pub(crate) loads: AtomicUsize,
    /// Tells whether the map cannot be read.
    pub(crate) is_broken: AtomicBool,
}

#[async_trait]
impl WorkerState for State {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        let missing = || EngineError::WorkerLost("no archive".into());
        self.artifact
            .as_ref()
            .map(|artifact| artifact.bytes.clone())
            .ok_or_else(missing)
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(EngineError::WorkerLost("no map".into()));
        }
        self.loads.fetch_add(1, Ordering::Relaxed);
        Ok(self.key_values.clone())
    }
}

impl Source {
    /// A source of the component in `tests/components/NAME`.
    pub(crate) fn named(name: &str) -> Self {
        Self::with(name, Map::new())
    }

    pub(crate) fn with(name: &str, key_values: Map<String, Value>) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/components")
            .join(name);
        Self::of(name, artifact::pack(&folder).unwrap(), key_values)
    }

    /// A source of code that was built.
    pub(crate) fn of(name: &str, artifact: Artifact, key_values: Map<String, Value>) -> Self {
        static LAST_SOURCE: AtomicU64 = AtomicU64::new(0);
        let artifact_hash = artifact.hash.clone();
        let state = Arc::new(State {
            artifact: Some(artifact),
            key_values,
            ..State::default()
        });
        let number = LAST_SOURCE.fetch_add(1, Ordering::Relaxed);
        let spec = WorkerSpec {
            owner: SourceId::new(EpochMs(1), u128::from(number) << 64).into(),
            tenant: format!("tenant {number}").into(),
            is_isolated: false,
            heap_mib: None,
            artifact_hash,
            env: BTreeMap::from([("PD_COMPONENT".to_owned(), name.to_owned())]),
            state: Arc::clone(&state) as Arc<dyn WorkerState>,
        };
        Self { spec, state }
    }
}

/// A run whose messages are still to be read.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) run: RunId,
    pub(crate) messages: mpsc::UnboundedReceiver<(RunId, RunMessage)>,
}

impl Running {
    /// Every message, to the outcome and to the end.
    pub(crate) async fn collect(mut self) -> Messages {
        let mut messages = Vec::new();
        let reading = async {
            while let Some((run, message)) = self.messages.recv().await {
                assert_eq!(run, self.run);
                messages.push(message);
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reading)
            .await
            .expect("the run to end");
        let outcomes = messages
            .iter()
            .filter(|message| matches!(message, RunMessage::Outcome(_)));
        assert_eq!(outcomes.count(), 1, "{messages:?}");
        assert!(
            matches!(messages.last(), Some(RunMessage::Outcome(_))),
            "{messages:?}"
        );
        Messages(messages)
    }

    /// Waits until the component's code runs, which says so by emitting.
    pub(crate) async fn has_begun(&mut self) {
        while let Some((_, message)) = self.messages.recv().await {
            if matches!(message, RunMessage::Emit(_)) {
                return;
            }
        }
        panic!("the run ended before it emitted");
    }
}

/// All that a run said.
#[derive(Debug)]
pub(crate) struct Messages(pub(crate) Vec<RunMessage>);

impl Messages {
    pub(crate) fn outcome(&self) -> &Outcome {
        match self.0.last() {
            Some(RunMessage::Outcome(outcome)) => outcome,
            _ => panic!("no outcome: {self:?}"),
        }
    }

    pub(crate) fn returned(&self) -> Value {
        match self.outcome() {
            Outcome::Returned { value } => value.clone().unwrap_or_default(),
            outcome => panic!("{outcome:?}"),
        }
    }

    pub(crate) fn emitted(&self) -> Vec<Value> {
        let emits = self.0.iter().filter_map(|message| match message {
            RunMessage::Emit(emit) => Some(serde_json::from_str(emit.event.get()).unwrap()),
            _ => None,
        });
        emits.collect()
    }

    pub(crate) fn logs(&self) -> Vec<(LogLevel, &str)> {
        let logs = self.0.iter().filter_map(|message| match message {
            RunMessage::Log { level, text } => Some((*level, text.as_str())),
            _ => None,
        });
        logs.collect()
    }

    pub(crate) fn limit(&self) -> Limit {
        match self.outcome() {
            Outcome::LimitExceeded { limit, .. } => *limit,
            outcome => panic!("{outcome:?}"),
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.outcome(), Outcome::Lost { .. })
    }
}
