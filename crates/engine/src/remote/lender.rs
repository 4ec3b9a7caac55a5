//! The side of the machine that lends its workers: does as the borrower says, and tells it of its runs.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    LENDER_WAITS, WORD_EVERY, Wire,
    frames::{Frames, frame},
    messages::{Call, Given, Order, Question, Report, Run, Said, Spec, Wanted},
};
use crate::{
    api::{Engine, EngineError, RunMessage, RunSink, WorkerOwner, WorkerSpec, WorkerState},
    data_store::Replier,
    step::StepMessage,
};

/// Lends the engine's workers until the borrower is gone or silent, or, once `leaving` is cancelled, until its last run has
/// ended. Then no worker has anything of the borrower any more.
pub async fn lend(engine: Arc<dyn Engine>, wire: Wire, leaving: CancellationToken) {
    let (sink, messages) = mpsc::unbounded_channel();
    let lender = Arc::new(Lender {
        engine,
        outgoing: wire.outgoing,
        sink,
        under_way: Mutex::default(),
        owners: Mutex::default(),
        wanted: Mutex::default(),
        questions: Mutex::default(),
    });
    let telling = AbortOnDropHandle::new(tokio::spawn(Arc::clone(&lender).tell(messages)));
    let mut orders = JoinSet::new();
    lender
        .obey_all(Frames::of(wire.incoming), leaving, &mut orders)
        .await;
    // Before workers are taken away: an order that is being carried out would get another one.
    orders.shutdown().await;
    lender.give_all_up().await;
    drop(telling);
}

struct Lender {
    engine: Arc<dyn Engine>,
    outgoing: mpsc::UnboundedSender<Bytes>,
    /// The runs' messages, in the order of all.
    sink: RunSink,
    under_way: Mutex<HashSet<Call>>,
    /// The owners that may have a place.
    owners: Mutex<HashSet<WorkerOwner>>,
    wanted: Mutex<HashMap<(Call, Wanted), oneshot::Sender<(Given, Bytes)>>>,
    questions: Mutex<Questions>,
}

/// Questions of runs that wait for their answers.
#[derive(Default)]
struct Questions {
    asked: Question,
    open: HashMap<Question, Replier>,
}

impl Lender {
    async fn obey_all(
        self: &Arc<Self>,
        mut frames: Frames,
        leaving: CancellationToken,
        orders: &mut JoinSet<()>,
    ) {
        let mut word = interval(WORD_EVERY);
        word.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard_at = Instant::now();
        let mut is_leaving = false;
        while !(is_leaving && self.under_way.lock().is_empty()) {
            tokio::select! {
                order = frames.next() => match order {
                    Ok(Some((order, beside))) => {
                        heard_at = Instant::now();
                        self.obey(order, beside, orders);
                    }
                    Ok(None) => return,
                    Err(error) => {
                        tracing::warn!(%error, "the node that borrowed workers cannot be understood");
                        return;
                    }
                },
                _ = word.tick() => {
                    if heard_at.elapsed() > LENDER_WAITS {
                        tracing::warn!("the node that borrowed workers is silent; its runs end here");
                        return;
                    }
                    self.say_alive(is_leaving);
                }
                () = leaving.cancelled(), if !is_leaving => {
                    is_leaving = true;
                    self.say_alive(true);
                }
                Some(_) = orders.join_next() => {}
            }
        }
    }

    fn obey(self: &Arc<Self>, order: Order, beside: Bytes, orders: &mut JoinSet<()>) {
        let lender = Arc::clone(self);
        match order {
            Order::Invoke { call, worker, run } => {
                self.under_way.lock().insert(call);
                self.owners.lock().insert(worker.owner.clone());
                orders.spawn(lender.invoke(call, worker, run));
            }
            Order::Given { call, what, given } => {
                if let Some(waiting) = self.wanted.lock().remove(&(call, what)) {
                    let _ = waiting.send((given, beside));
                }
            }
            Order::Answer { question, answer } => {
                let asked = self.questions.lock().open.remove(&question);
                if let Some(replier) = asked {
                    replier.answer(answer.into_reply());
                }
            }
            Order::ForgetTmp { owner, tmp } => {
                orders.spawn(async move { lender.engine.forget_tmp(&owner, &tmp).await });
            }
            Order::Release { errand, owner } => {
                orders.spawn(async move {
                    let is_done = lender.engine.release(&owner).await;
                    if is_done {
                        lender.owners.lock().remove(&owner);
                    }
                    lender.report(&Report::Done { errand, is_done }, &[]);
                });
            }
            Order::Evict { errand, owner } => {
                orders.spawn(async move {
                    lender.engine.evict(&owner).await;
                    let is_done = true;
                    lender.report(&Report::Done { errand, is_done }, &[]);
                });
            }
            Order::Alive => {}
        }
    }

    async fn invoke(self: Arc<Self>, call: Call, worker: Spec, run: Run) {
        let worker = WorkerSpec {
            owner: worker.owner,
            tenant: worker.tenant.into(),
            is_isolated: worker.is_isolated,
            heap_mib: worker.heap_mib,
            artifact_hash: worker.artifact_hash,
            env: worker.env,
            state: Arc::new(State {
                call,
                lender: Arc::clone(&self),
            }),
        };
        let invocation = run.into_invocation(call);
        let invoked = self.engine.invoke(&worker, invocation, self.sink.clone());
        let refused = invoked.await.err();
        if refused.is_some() {
            self.under_way.lock().remove(&call);
        }
        self.report(&Report::Invoked { call, refused }, &[]);
    }

    async fn tell(self: Arc<Self>, mut messages: mpsc::UnboundedReceiver<(Call, RunMessage)>) {
        while let Some((call, message)) = messages.recv().await {
            let is_last = matches!(message, RunMessage::Outcome(_));
            let mut said = self.said(message);
            let body = said.take_body();
            self.report(&Report::Said { call, said }, &body);
            if is_last {
                self.under_way.lock().remove(&call);
            }
        }
    }

    fn said(self: &Arc<Self>, message: RunMessage) -> Said {
        match message {
            RunMessage::Emit(emit) => Said::Emit(emit),
            RunMessage::Respond(response) => Said::Respond(response),
            RunMessage::Log { level, text } => Said::Log { level, text },
            RunMessage::KvChanged(change) => Said::KvChanged(change),
            RunMessage::Exported(export) => Said::Exported(export),
            RunMessage::Exited(reason) => Said::Exited(reason),
            RunMessage::StoreAsked(request) => Said::StoreAsked {
                question: self.ask(request.reply),
                store: request.store,
                operation: request.operation,
            },
            RunMessage::Step(step) => self.said_by_step(step),
            RunMessage::Outcome(outcome) => Said::Outcome(outcome),
        }
    }

    fn said_by_step(self: &Arc<Self>, step: StepMessage) -> Said {
        match step {
            StepMessage::Skipped => Said::Skipped,
            StepMessage::Flow(flow) => Said::Flow(flow),
            StepMessage::Sent(sent) => Said::Sent(sent),
            StepMessage::Responded(response) => Said::Responded(response),
            StepMessage::ResponseBody { bytes, has_more } => Said::ResponseBody { bytes, has_more },
            StepMessage::ResponseRefused(reason) => Said::ResponseRefused(reason),
            StepMessage::Asked(request) => Said::Asked {
                question: self.ask(request.reply),
                service: request.service,
                operation: request.operation,
                arguments: request.arguments,
            },
        }
    }

    /// Keeps the way back to a run that asks, and tells the borrower once the run has room for an answer.
    fn ask(self: &Arc<Self>, mut reply: Replier) -> Question {
        let room = reply.take_room();
        let question = {
            let mut questions = self.questions.lock();
            questions.asked += 1;
            let question = questions.asked;
            questions.open.insert(question, reply);
            question
        };
        let lender = Arc::clone(self);
        tokio::spawn(async move {
            if let Some(room) = room {
                room.await;
            }
            lender.report(&Report::HasRoom { question }, &[]);
        });
        question
    }

    async fn give_all_up(&self) {
        self.wanted.lock().clear();
        let owners = std::mem::take(&mut *self.owners.lock());
        join_all(owners.iter().map(|owner| self.engine.evict(owner))).await;
        self.questions.lock().open.clear();
    }

    fn say_alive(&self, is_leaving: bool) {
        let status = self.engine.status();
        let alive = Report::Alive {
            warm: status.warm_workers,
            workers: status.source_workers,
            is_leaving,
        };
        self.report(&alive, &[]);
    }

    fn report(&self, report: &Report, beside: &[u8]) {
        match frame(report, beside) {
            // A borrower that is gone hears nothing.
            Ok(frame) => drop(self.outgoing.send(frame)),
            Err(error) => tracing::error!(%error, "a message of a run is lost"),
        }
    }
}

/// The parts of a component, asked of the borrower.
struct State {
    call: Call,
    lender: Arc<Lender>,
}

impl State {
    async fn want(&self, what: Wanted) -> Result<(Given, Bytes), EngineError> {
        let (waiting, given) = oneshot::channel();
        let call = self.call;
        self.lender.wanted.lock().insert((call, what), waiting);
        self.lender.report(&Report::Wants { call, what }, &[]);
        match given.await {
            Ok((Given::Refused(error), _)) => Err(error),
            Ok(given) => Ok(given),
            Err(_) => Err(EngineError::WorkerLost(
                "the node that runs it is gone".to_owned(),
            )),
        }
    }
}

#[async_trait]
impl WorkerState for State {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        self.want(Wanted::Artifact).await.map(|(_, bytes)| bytes)
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        match self.want(Wanted::KeyValues).await? {
            (Given::KeyValues(map), _) => Ok(map),
            _ => Err(EngineError::Protocol("key-values were wanted".to_owned())),
        }
    }
}
