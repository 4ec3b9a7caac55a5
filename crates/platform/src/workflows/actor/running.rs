//! Carrying out the orders of runs: code, expressions, calls of other workflows.

use std::sync::Arc;

use headwater_engine::{Entry, Invocation, WorkerSpec};
use headwater_model::{
    id::{InvocationId, RunnableId},
    outcome::Outcome,
    time::EpochMs,
};
use headwater_store::NewInvocation;
use headwater_workflow::{
    definition::NodeKind,
    path::Path,
    run::{Blob, Cause, Failure, Order, Work},
};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use super::{Actor, Prepared};
use crate::{
    error::PlatformError,
    workflows::{
        context::WorkflowContext,
        deployed::Deployed,
        effects::Sends,
        flight::{Executed, For},
        head::{CalledBy, Head},
        input::{self, BlobTexts},
        masking::Masks,
        services::{HOPS_MAX, too_many_calls},
        tokens::WaitUrls,
    },
};

/// What an order needs before it can be carried out.
pub(in crate::workflows) enum Start {
    /// Code or expressions.
    Execute {
        worker: Box<WorkerSpec>,
        entry: Entry,
        props: Map<String, Value>,
        masks: Arc<Masks>,
        texts: BlobTexts,
        work: Work,
    },
    /// A run of another workflow.
    Call {
        runnable: RunnableId,
        event: Arc<RawValue>,
        waits: bool,
    },
}

impl Actor {
    /// Goes on with a run: commits what has to be durable first, or carries out its orders.
    pub(super) fn advance(&mut self, id: &InvocationId) {
        let now_ms = self.context.core.env.now_ms();
        let Some(run) = self.runs.get_mut(id).filter(|run| run.is_admitted) else {
            return;
        };
        run.advance(now_ms);
        if run.is_dirty && !run.is_committing {
            if let Some(lease) = &self.lease {
                let commit = run.commit(lease, now_ms);
                self.commits.push(commit);
            }
            return;
        }
        if self.stopping {
            return;
        }
        let orders = run.take_orders();
        for order in orders {
            self.prepare(id, order);
        }
    }

    /// Reads what the order needs.
    pub(super) fn prepare(&mut self, id: &InvocationId, order: Order) {
        let Some(run) = self.runs.get(id) else {
            return;
        };
        let (context, deployed) = (Arc::clone(&self.context), Arc::clone(&run.deployed));
        let blobs = input::blobs(run, &order.path);
        let (id, hops) = (id.clone(), run.claimed.hops);
        self.preparing.push(Box::pin(async move {
            let Order { path, work } = order;
            let start = prepared(&context, &deployed, (&id, &path, hops), work, blobs).await;
            (id, path, start)
        }));
    }

    /// Carries an order out.
    pub(super) fn start_prepared(&mut self, (id, path, start): Prepared) {
        let now_ms = self.context.core.env.now_ms();
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        let start = match start {
            Ok(start) => start,
            Err(error) => return self.not_prepared(&id, &path, &error),
        };
        match start {
            Start::Call {
                runnable,
                event,
                waits,
            } => {
                let called = self.context.core.env.id(InvocationId::new);
                let wait = input::wait_of(run, &path);
                let head = Head {
                    called_by: waits.then(|| CalledBy {
                        run_id: wait.run_id,
                        path: wait.path,
                        generation: wait.generation,
                    }),
                    ..Head::default()
                };
                run.pending.calls.push(NewInvocation {
                    id: called.clone(),
                    runnable,
                    trigger: headwater_store::Trigger::Call,
                    via: None,
                    event,
                    hops: run.claimed.hops + 1,
                    now_ms,
                    due_at_ms: EpochMs(0),
                    origin: run.claimed.origin.clone(),
                    state: to_raw_value(&head).ok(),
                });
                run.tree.called(&path, Ok(called.as_str()), waits, now_ms);
                run.is_dirty = true;
                self.advance(&id);
            }
            Start::Execute {
                worker,
                entry,
                props,
                masks,
                texts,
                work,
            } => {
                let token = self.context.wait_key.token(&input::wait_of(run, &path));
                let urls = WaitUrls::of(&self.context.core.config.public_url, &token);
                let (is_step, text) = match &work {
                    Work::Evaluate(questions) => (
                        false,
                        input::evaluation(run, &path, questions, now_ms, &texts),
                    ),
                    Work::Step | Work::Call { .. } => {
                        (true, input::step(run, &path, &urls, now_ms, &texts))
                    }
                };
                let of = For {
                    run: id,
                    owner: run.deployed.workflow.owner.clone(),
                    is_step,
                    hops: run.claimed.hops,
                    masks,
                    path,
                };
                let text = of.masks.opened(text);
                run.worker = Some(worker.owner.clone());
                let wall = Some(run.time_limit(&of.path));
                self.flight.start(of, *worker, |run| Invocation {
                    run,
                    entry,
                    event: input::raw(text),
                    props,
                    wall,
                });
            }
        }
    }

    fn not_prepared(&mut self, id: &InvocationId, path: &Path, error: &PlatformError) {
        let outcome = Outcome::Threw {
            error: headwater_model::outcome::ComponentError {
                name: "ConfigurationError".to_owned(),
                message: error.to_string(),
                ..Default::default()
            },
        };
        let is_step = self
            .runs
            .get(id)
            .and_then(|run| run.tree.node(path))
            .is_some_and(|node| matches!(node.kind, NodeKind::Step(_)));
        self.executed(Executed {
            run: id.clone(),
            path: path.clone(),
            is_step,
            effects: Default::default(),
            outcome,
            masks: Arc::default(),
            usage: Default::default(),
            has_begun: false,
        });
    }

    /// An execution ended.
    pub(super) fn executed(&mut self, mut executed: Executed) {
        let now_ms = self.context.core.env.now_ms();
        let Some(run) = self.runs.get_mut(&executed.run) else {
            return;
        };
        run.pending.usage.add(executed.usage);
        match executed.is_step {
            false => {
                let answers = answers_of(executed.outcome, &executed.masks);
                if executed.path == Path::root() {
                    return self.keyed(&executed.run, answers);
                }
                run.tree.answered(&executed.path, answers, now_ms);
            }
            true => {
                let path = executed.path.to_string();
                run.pending
                    .kv_writes
                    .append(&mut executed.effects.kv_writes);
                let chance = self.context.core.env.chance();
                let place = run.tree.places().get(&executed.path);
                let execution = place
                    .and_then(|place| place.rerun.as_ref())
                    .map_or(1, |rerun| rerun.runs);
                let ended = executed
                    .effects
                    .ended((&path, execution), executed.outcome, chance);
                let (mut end, mut sends, mut logs) = ended;
                executed.masks.hide(&mut end, &mut logs);
                if !run.measure(&mut end) {
                    sends = Sends::default();
                }
                sends.hide(&executed.masks);
                run.logs
                    .entry(executed.path.clone())
                    .or_default()
                    .extend(logs);
                run.pending.sends.extend(sends.queued);
                run.emit(sends.emitted, sends.streamed);
                run.tree.step_ended(&executed.path, end, now_ms);
            }
        }
        run.is_dirty = true;
        let id = executed.run;
        self.advance(&id);
    }
}

async fn prepared(
    context: &WorkflowContext,
    deployed: &Arc<Deployed>,
    (run_id, path, hops): (&InvocationId, &Path, u32),
    work: Work,
    blobs: Vec<Blob>,
) -> Result<Start, PlatformError> {
    let mut texts = BlobTexts::new();
    for blob in blobs {
        let bytes = context.core.store.run_blob(run_id, &blob.hash).await?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        texts.extend(text.map(|text| (blob.hash, Arc::from(text))));
    }
    let variables = context.variables.of(&deployed.workflow.owner).await?;
    let masks = Arc::clone(&variables.masks);
    match work {
        Work::Call { .. } if hops >= HOPS_MAX => Err(too_many_calls()),
        Work::Call {
            workflow,
            event,
            waits,
        } => {
            let runnable = context
                .find(&deployed.workflow.owner, &workflow)
                .await?
                .into();
            let event = event.text().unwrap_or("null").to_owned();
            Ok(Start::Call {
                runnable,
                event: input::raw(event),
                waits,
            })
        }
        Work::Evaluate(_) => Ok(Start::Execute {
            worker: Box::new(deployed.evaluator(&variables)),
            entry: Entry::Evaluate,
            props: Map::new(),
            masks,
            texts,
            work,
        }),
        Work::Step => {
            let namespace = deployed
                .definition
                .node(path)
                .map(|node| node.namespace.as_str().to_owned());
            let step = namespace.and_then(|namespace| deployed.step(&namespace));
            let step = step.ok_or_else(|| PlatformError::not_found("step", path))?;
            let finals = step.finals(context).await?;
            if let Some(reason) = finals.broken {
                return Err(PlatformError::Conflict(reason));
            }
            Ok(Start::Execute {
                worker: Box::new(deployed.worker(context, step, &variables)),
                entry: Entry::Step,
                props: finals.values,
                masks,
                texts,
                work,
            })
        }
    }
}

/// The answers of an evaluation.
fn answers_of(outcome: Outcome, masks: &Masks) -> Result<Vec<Box<RawValue>>, Failure> {
    if let Some(mut failure) = Failure::of(&outcome) {
        failure.error.message = masks.text(&failure.error.message).into_owned();
        return Err(failure);
    }
    let Outcome::Returned {
        value: Some(Value::Array(answers)),
    } = outcome
    else {
        let text = "the worker did not answer the workflow's expressions";
        return Err(Failure::stated(Cause::WorkerLost, "WorkerLostError", text));
    };
    let answers = answers.iter().map(|answer| {
        let answer = to_raw_value(answer).unwrap_or_else(|_| RawValue::NULL.to_owned());
        masks.json(&answer).unwrap_or(answer)
    });
    Ok(answers.collect())
}
