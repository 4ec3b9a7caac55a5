//! The engine of a test's node: mocks stand in for the code of steps, everything else runs in the real one.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{
    Artifact, Build, BuildRequest, Engine, EngineError, EngineStatus, Entry, Export, Flow,
    FlowOperation, Invocation, PackageModules, Rejection, RunMessage, RunSink, SendKind,
    StepMessage, WorkerOwner, WorkerSpec, WorkerState,
};
use headwater_model::outcome::Outcome;
use headwater_model::package::PackageReference;
use headwater_platform::Clock as _;
use headwater_workflow::path::Path;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::calls::{CallId, Calls};
use super::case::{Case, Mock};
use super::clock::TestClock;
use super::staging::Staged;
use super::workers::Workers;

/// The place in a deployment's worker in which the props of mocked steps are evaluated; no step has it.
const PLACE: &str = "tests";

/// The field of a step's input with the time, and with the mark of its requests (`runtime/worker/workflow_input.ts`).
const SIMULATED: &str = "simulated";

/// A test, and all that outlives its nodes.
pub(super) struct Scene {
    pub(super) case: Case,
    pub(super) staged: Staged,
    pub(super) calls: Calls,
    pub(super) clock: TestClock,
}

/// The engine of one node.
pub(super) struct TestEngine {
    pub(super) workers: Arc<Workers>,
    pub(super) scene: Arc<Scene>,
}

/// Expressions have no code and no map.
struct NoCode(Bytes);

#[async_trait]
impl WorkerState for NoCode {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        Ok(self.0.clone())
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        Ok(Map::new())
    }
}

#[async_trait]
impl Engine for TestEngine {
    async fn build(&self, request: BuildRequest) -> Result<Result<Build, Rejection>, EngineError> {
        self.workers.build(request).await
    }

    async fn package_modules(
        &self,
        package: &PackageReference,
        owner: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        self.workers.engine().package_modules(package, owner).await
    }

    async fn invoke(
        &self,
        worker: &WorkerSpec,
        mut invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError> {
        let mut input: Value = serde_json::from_str(invocation.event.get()).unwrap_or_default();
        // Before the test has its way with the context.
        let path = path_of(&input);
        self.scene.simulate(&mut input);
        invocation.event = raw(&input);
        match (&invocation.entry, path) {
            (Entry::Step, Some(path)) => self.step(worker, invocation, (path, input), sink).await,
            (
                Entry::Step
                | Entry::Run
                | Entry::Hook { .. }
                | Entry::Options { .. }
                | Entry::AdditionalProps
                | Entry::Evaluate,
                _,
            ) => self.workers.invoke(worker.clone(), invocation, sink).await,
        }
    }

    async fn forget_tmp(&self, owner: &WorkerOwner, tmp: &str) {
        self.workers.engine().forget_tmp(owner, tmp).await;
    }

    async fn evict(&self, owner: &WorkerOwner) {
        self.workers.engine().evict(owner).await;
    }

    fn status(&self) -> EngineStatus {
        self.workers.engine().status()
    }

    async fn shutdown(&self) {
        self.workers.end_all().await;
    }
}

impl Scene {
    /// Gives the run the context that the test wants, and the time that it is for the test.
    fn simulate(&self, input: &mut Value) {
        if let Value::Object(input) = input {
            let now = json!({ "now_ms": self.clock.now_ms() });
            input.insert(SIMULATED.to_owned(), now);
        }
        for pointer in ["/context", "/steps/trigger/context"] {
            if let Some(Value::Object(context)) = input.pointer_mut(pointer) {
                context.extend(self.case.context.clone());
            }
        }
    }
}

/// The things that come before the code of a step.
enum Before {
    /// Its `if` does not hold.
    Skipped,
    /// Its props.
    Props(Value),
    /// An expression failed.
    Failed(Outcome),
}

impl TestEngine {
    async fn step(
        &self,
        worker: &WorkerSpec,
        invocation: Invocation,
        (path, input): (Path, Value),
        sink: RunSink,
    ) -> Result<(), EngineError> {
        let run = invocation.run;
        let tell = |message: RunMessage| drop(sink.send((run, message)));
        let props = match self.before(worker, &input).await? {
            Before::Props(props) => props,
            Before::Skipped => {
                tell(RunMessage::Step(StepMessage::Skipped));
                tell(RunMessage::Outcome(Outcome::Returned { value: None }));
                return Ok(());
            }
            Before::Failed(outcome) => {
                tell(RunMessage::Outcome(outcome));
                return Ok(());
            }
        };
        let (scene, namespace) = (&self.scene, path.name().unwrap_or_default());
        let call = scene.calls.begin(&path, scene.clock.now_ms());
        scene.calls.given(call, props);
        let mocks = scene.case.code_mocks(namespace);
        if mocks.is_empty() && !scene.staged.left_out.contains(namespace) {
            return self
                .real(worker, invocation, (namespace, call, input), sink)
                .await;
        }
        let gone =
            |_| EngineError::WorkerLost("a failure or a kill has cut the step off".to_owned());
        let number = scene.calls.turn(call).await.map_err(gone)?;
        let mock = mocks.get(number).or(mocks.last()).cloned();
        let messages = messages_of(&mock.unwrap_or_default());
        messages.into_iter().for_each(tell);
        Ok(())
    }

    /// Runs the code of a step in the real runtime.
    async fn real(
        &self,
        worker: &WorkerSpec,
        mut invocation: Invocation,
        (namespace, call, mut input): (&str, CallId, Value),
        sink: RunSink,
    ) -> Result<(), EngineError> {
        input[SIMULATED]["call"] = call.to_string().into();
        invocation.event = raw(&input);
        for prop in self.workers.apps_of(&worker.artifact_hash) {
            let place = (namespace.to_owned(), prop.clone());
            let account = self.scene.staged.accounts.get(&place);
            let fields = account.and_then(|account| self.scene.case.accounts.get(account));
            let fields = fields.cloned().unwrap_or_default();
            invocation.props.insert(prop, json!({ "$auth": fields }));
        }
        let (own, mut messages) = mpsc::unbounded_channel();
        self.workers.invoke(worker.clone(), invocation, own).await?;
        let scene = Arc::clone(&self.scene);
        tokio::spawn(async move {
            let mut sends = Vec::new();
            while let Some((run, message)) = messages.recv().await {
                if let RunMessage::Step(StepMessage::Sent(sent)) = &message {
                    let value: Value = serde_json::from_str(sent.value.get()).unwrap_or_default();
                    sends.push(json!({ name(sent.kind): value }));
                    continue;
                }
                let is_last = matches!(message, RunMessage::Outcome(_));
                if matches!(message, RunMessage::Outcome(Outcome::Returned { .. })) {
                    scene.calls.sent(call, std::mem::take(&mut sends));
                }
                if sink.send((run, message)).is_err() || is_last {
                    break;
                }
            }
        });
        Ok(())
    }

    /// Evaluates the condition of a step, and then the props that the file gives it.
    async fn before(&self, worker: &WorkerSpec, input: &Value) -> Result<Before, EngineError> {
        if let Some(condition) = input.get("if").filter(|condition| !condition.is_null()) {
            let ask = json!([{ "name": "if", "condition": condition }]);
            match self.ask(worker, input, ask).await? {
                Ok(answers) if answers.first() == Some(&Value::Bool(true)) => {}
                Ok(_) => return Ok(Before::Skipped),
                Err(outcome) => return Ok(Before::Failed(outcome)),
            }
        }
        let Some(Value::Object(templates)) = input.get("props") else {
            return Ok(Before::Props(json!({})));
        };
        let ask = templates
            .iter()
            .map(|(name, value)| json!({ "name": format!("props.{name}"), "value": value }));
        Ok(match self.ask(worker, input, ask.collect()).await? {
            Ok(answers) => {
                let answers = answers.into_iter().map(unlabelled);
                Before::Props(templates.keys().cloned().zip(answers).collect())
            }
            Err(outcome) => Before::Failed(outcome),
        })
    }

    async fn ask(
        &self,
        worker: &WorkerSpec,
        input: &Value,
        ask: Value,
    ) -> Result<Result<Vec<Value>, Outcome>, EngineError> {
        let nothing = Artifact::without_code();
        let owner = match &worker.owner {
            WorkerOwner::Step { deployment, .. } => WorkerOwner::Step {
                deployment: deployment.clone(),
                place: Arc::from(PLACE),
            },
            WorkerOwner::Source(_) | WorkerOwner::Call(_) => worker.owner.clone(),
        };
        let worker = WorkerSpec {
            owner,
            artifact_hash: nothing.hash,
            state: Arc::new(NoCode(nothing.bytes)),
            ..worker.clone()
        };
        let event = json!({
            "steps": input["steps"],
            "context": input["context"],
            "tmp": input["tmp"],
            SIMULATED: input[SIMULATED],
            "ask": ask,
        });
        let invocation = Invocation {
            run: 0,
            entry: Entry::Evaluate,
            event: raw(&event),
            props: Map::new(),
            wall: None,
        };
        let (sink, mut messages) = mpsc::unbounded_channel();
        self.workers.invoke(worker, invocation, sink).await?;
        while let Some((_, message)) = messages.recv().await {
            if let RunMessage::Outcome(outcome) = message {
                return Ok(match outcome {
                    Outcome::Returned {
                        value: Some(Value::Array(answers)),
                    } => Ok(answers),
                    failed @ (Outcome::Returned { .. }
                    | Outcome::Threw { .. }
                    | Outcome::LimitExceeded { .. }
                    | Outcome::Lost { .. }
                    | Outcome::Cancelled { .. }) => Err(failed),
                });
            }
        }
        Err(EngineError::WorkerLost(
            "it did not answer the expressions of a step".to_owned(),
        ))
    }
}

/// The place that a step's input is for.
fn path_of(input: &Value) -> Option<Path> {
    let key = input["context"]["idempotency_key"].as_str()?;
    let (_, path) = key.split_once('/')?;
    path.parse().ok()
}

fn messages_of(mock: &Mock) -> Vec<RunMessage> {
    let exports = mock.exports.iter().map(|(name, value)| {
        RunMessage::Exported(Export {
            name: name.clone(),
            value: to_raw_value(value).ok(),
        })
    });
    let mut messages: Vec<RunMessage> = exports.collect();
    messages.extend(mock.suspended_for.map(|time| {
        RunMessage::Step(StepMessage::Flow(Flow {
            operation: FlowOperation::Suspend,
            after_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            context: None,
            max_retries: None,
        }))
    }));
    messages.push(RunMessage::Outcome(match mock.throws.clone() {
        Some(error) => Outcome::Threw { error },
        None => Outcome::Returned {
            value: mock.returns.clone(),
        },
    }));
    messages
}

/// The value of a choice that the editor has stored with its label.
fn unlabelled(value: Value) -> Value {
    if let Value::Array(items) = value {
        return items.into_iter().map(unlabelled).collect();
    }
    match value.get("__lv") {
        Some(choice) if choice.is_object() => choice["value"].clone(),
        Some(choice) => choice.clone(),
        None => value,
    }
}

fn name(kind: SendKind) -> &'static str {
    match kind {
        SendKind::Http => "http",
        SendKind::Email => "email",
        SendKind::S3 => "s3",
        SendKind::Emit => "emit",
        SendKind::Sse => "sse",
    }
}

fn raw(value: &Value) -> Arc<RawValue> {
    Arc::from(to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
}
