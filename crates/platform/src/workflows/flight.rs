//! Executions of steps and evaluations in flight: what each has said so far.

use std::{collections::HashMap, mem, sync::Arc, time::Instant};

use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use headwater_engine::{
    Engine, EngineError, Invocation, RunId, RunMessage, RunSink, StepMessage, WorkerSpec,
};
use headwater_model::{id::InvocationId, outcome::Outcome};
use headwater_store::{KvWrite, Owner, Usage};
use headwater_workflow::path::Path;
use tokio::sync::mpsc;

use super::{
    context::WorkflowContext,
    effects::StepEffects,
    hiding::{Ending, Spoken},
    masking::{AT_ONCE, Masks},
    services::{self, Asking},
    step_state,
};
use crate::{data_stores::StoreRequests, error::PlatformError};

/// An execution of a step, or an evaluation.
struct Execution {
    run: InvocationId,
    path: Path,
    is_step: bool,
    effects: StepEffects,
    store_requests: StoreRequests,
    owner: Owner,
    hops: u32,
    masks: Arc<Masks>,
    began: Instant,
}

/// An execution that has ended.
pub(super) struct Executed {
    pub(super) run: InvocationId,
    pub(super) path: Path,
    pub(super) ending: Ending,
    /// Changes of the step's key-value map.
    pub(super) kv_writes: Vec<KvWrite>,
    pub(super) usage: Usage,
}

impl Executed {
    /// The end of one without a worker.
    pub(super) fn of_none(run: InvocationId, spoken: Spoken) -> Self {
        Self {
            run,
            path: spoken.path.clone(),
            ending: spoken.hidden(&Masks::default()),
            kv_writes: Vec::new(),
            usage: Usage::default(),
        }
    }
}

/// An execution that has ended, while what it said is masked aside.
struct Hiding {
    run: InvocationId,
    path: Path,
    is_step: bool,
    chance: f64,
    kv_writes: Vec<KvWrite>,
    usage: Usage,
}

/// The place that an execution is for.
pub(super) struct For {
    pub(super) run: InvocationId,
    pub(super) path: Path,
    pub(super) owner: Owner,
    pub(super) is_step: bool,
    pub(super) hops: u32,
    pub(super) masks: Arc<Masks>,
}

type Start = BoxFuture<'static, (RunId, Result<(), EngineError>)>;
type Hidden = BoxFuture<'static, (RunId, Result<Ending, PlatformError>)>;

/// All executions of a workflow's runs.
pub(super) struct Flight {
    context: Arc<WorkflowContext>,
    next: RunId,
    executions: HashMap<RunId, Execution>,
    sink: RunSink,
    messages: mpsc::UnboundedReceiver<(RunId, RunMessage)>,
    starting: FuturesUnordered<Start>,
    /// Those that have ended, and that nobody has been told of yet.
    ended: HashMap<RunId, Hiding>,
    hiding: FuturesUnordered<Hidden>,
}

impl Flight {
    pub(super) fn new(context: Arc<WorkflowContext>) -> Self {
        let (sink, messages) = mpsc::unbounded_channel();
        Self {
            context,
            next: 0,
            executions: HashMap::new(),
            sink,
            messages,
            starting: FuturesUnordered::new(),
            ended: HashMap::new(),
            hiding: FuturesUnordered::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.executions.is_empty() && self.ended.is_empty()
    }

    /// Starts an execution.
    pub(super) fn start(
        &mut self,
        of: For,
        worker: WorkerSpec,
        invocation: impl FnOnce(RunId) -> Invocation,
    ) {
        let id = self.next;
        self.next += 1;
        let invocation = invocation(id);
        let execution = Execution {
            store_requests: StoreRequests::new(of.owner.clone(), &invocation.props),
            owner: of.owner,
            hops: of.hops,
            masks: of.masks,
            run: of.run,
            path: of.path,
            is_step: of.is_step,
            effects: StepEffects::default(),
            began: Instant::now(),
        };
        self.executions.insert(id, execution);
        let (engine, sink): (Arc<dyn Engine>, _) =
            (Arc::clone(&self.context.core.engine), self.sink.clone());
        self.starting.push(Box::pin(async move {
            (id, engine.invoke(&worker, invocation, sink).await)
        }));
    }

    /// Forgets the executions of a run: whatever they still say comes to nothing.
    pub(super) fn forget(&mut self, run: &InvocationId) {
        self.executions.retain(|_, execution| execution.run != *run);
        self.ended.retain(|_, ended| ended.run != *run);
    }

    /// Waits for the next end of an execution; forever if none is in flight.
    pub(super) async fn next(&mut self) -> Executed {
        loop {
            tokio::select! {
                Some((id, message)) = self.messages.recv() => {
                    if let Some(ended) = self.take(id, message) {
                        return ended;
                    }
                }
                Some((id, started)) = self.starting.next() => {
                    if let Err(error) = started
                        && let Some(ended) = self.end(id, Outcome::Lost { message: error.to_string() })
                    {
                        return ended;
                    }
                }
                Some((id, ending)) = self.hiding.next() => {
                    if let Some(ended) = self.hidden(id, ending) {
                        return ended;
                    }
                }
            }
        }
    }

    fn take(&mut self, id: RunId, message: RunMessage) -> Option<Executed> {
        let execution = self.executions.get_mut(&id)?;
        let now_ms = self.context.core.env.now_ms();
        match message {
            RunMessage::Exported(export) => execution.effects.export(export),
            RunMessage::Exited(reason) => execution.effects.exit(reason),
            RunMessage::Log { level, text } => execution.effects.log(level, text, now_ms),
            RunMessage::StoreAsked(request) => {
                execution
                    .store_requests
                    .take(&self.context.data_stores, request);
            }
            RunMessage::Step(message) => {
                let execution = self.executions.get_mut(&id)?;
                step_message(&self.context, execution, message);
            }
            RunMessage::KvChanged(change) => {
                let namespace = execution.path.name().unwrap_or_default();
                execution
                    .effects
                    .kv_writes
                    .push(step_state::write(namespace, change));
            }
            // `$emit` of a step is a send, and only sources respond by themselves.
            RunMessage::Emit(_) | RunMessage::Respond(_) => {}
            RunMessage::Outcome(outcome) => return self.end(id, outcome),
        }
        None
    }

    /// Ends an execution: at once, or when all that it said has been masked aside.
    fn end(&mut self, id: RunId, outcome: Outcome) -> Option<Executed> {
        let mut execution = self.executions.remove(&id)?;
        let compute_ms = u64::try_from(execution.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let usage = Usage {
            invocations: 0,
            compute_ms,
        };
        let core = &self.context.core;
        let (masks, kv_writes) = (execution.masks, mem::take(&mut execution.effects.kv_writes));
        let spoken = Spoken {
            path: execution.path.clone(),
            is_step: execution.is_step,
            effects: execution.effects,
            outcome,
            chance: core.env.chance(),
        };
        if masks.takes_long(spoken.bytes(AT_ONCE + 1)) {
            let ended = Hiding {
                run: execution.run,
                path: execution.path,
                is_step: spoken.is_step,
                chance: spoken.chance,
                kv_writes,
                usage,
            };
            self.ended.insert(id, ended);
            let core = Arc::clone(core);
            self.hiding.push(Box::pin(async move {
                let hidden = core.aside.run(move || spoken.hidden(&masks));
                (id, hidden.await)
            }));
            return None;
        }
        Some(Executed {
            run: execution.run,
            path: execution.path,
            ending: spoken.hidden(&masks),
            kv_writes,
            usage,
        })
    }

    /// The end of an execution that has been masked, unless its run was forgotten meanwhile.
    fn hidden(&mut self, id: RunId, ending: Result<Ending, PlatformError>) -> Option<Executed> {
        let ended = self.ended.remove(&id)?;
        let ending = ending.unwrap_or_else(|error| {
            let spoken = Spoken {
                path: ended.path.clone(),
                is_step: ended.is_step,
                effects: StepEffects::default(),
                outcome: Outcome::Lost {
                    message: error.to_string(),
                },
                chance: ended.chance,
            };
            spoken.hidden(&Masks::default())
        });
        Some(Executed {
            run: ended.run,
            path: ended.path,
            ending,
            kv_writes: ended.kv_writes,
            usage: ended.usage,
        })
    }
}

fn step_message(context: &Arc<WorkflowContext>, execution: &mut Execution, message: StepMessage) {
    match message {
        StepMessage::Skipped => execution.effects.skip(),
        StepMessage::Flow(flow) => execution.effects.flow(flow),
        StepMessage::Sent(sent) => execution.effects.send(sent),
        StepMessage::Responded(response) => context.responders.respond(&execution.run, response),
        StepMessage::ResponseBody { bytes, has_more } => {
            context.responders.body(&execution.run, &bytes, has_more);
        }
        StepMessage::ResponseRefused(_) => context.responders.refuse(&execution.run),
        StepMessage::Asked(request) => {
            let asking = Asking {
                owner: execution.owner.clone(),
                hops: execution.hops,
            };
            services::serve(context, asking, request);
        }
    }
}
