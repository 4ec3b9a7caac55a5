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
    time::{MissedTickBehavior, interval, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    LENDER_WAITS, WORD_EVERY, Wire,
    frames::{Frames, frame},
    messages::{
        Answer, Call, Ended, Errand, Given, Order, Question, Report, Run, Said, Spec, Wanted,
    },
};
use crate::{
    api::{Engine, EngineError, RunMessage, RunSink, WorkerOwner, WorkerSpec, WorkerState},
    data_store::Replier,
    step::StepMessage,
};

/// Lends the engine's workers until the borrower is gone or silent. Once `leaving` is cancelled, it takes no more runs, and the
/// borrower goes when it has none left. In the end no worker has anything of the borrower any more.
pub async fn lend(engine: Arc<dyn Engine>, wire: Wire, leaving: CancellationToken) {
    let (sink, messages) = mpsc::unbounded_channel();
    let (done, errands) = mpsc::unbounded_channel();
    let lender = Arc::new(Lender {
        engine,
        outgoing: wire.outgoing,
        sink,
        done,
        leaving,
        under_way: Mutex::default(),
        owners: Mutex::default(),
        wanted: Mutex::default(),
        questions: Mutex::default(),
    });
    let mut conversation = Conversation {
        frames: Frames::of(wire.incoming),
        messages,
        errands,
        orders: JoinSet::new(),
    };
    conversation.hold(&lender).await;
    // Before workers are taken away: an order that is being carried out would get another one.
    conversation.orders.shutdown().await;
    lender.give_all_up().await;
}

/// All that the lender hears.
struct Conversation {
    frames: Frames,
    messages: mpsc::UnboundedReceiver<(Call, RunMessage)>,
    errands: mpsc::UnboundedReceiver<(Errand, bool)>,
    orders: JoinSet<()>,
}

struct Lender {
    engine: Arc<dyn Engine>,
    outgoing: mpsc::UnboundedSender<Bytes>,
    /// The runs' messages, in the order of all.
    sink: RunSink,
    done: mpsc::UnboundedSender<(Errand, bool)>,
    leaving: CancellationToken,
    under_way: Mutex<HashMap<Call, WorkerOwner>>,
    /// The owners that may have a place.
    owners: Mutex<HashSet<WorkerOwner>>,
    wanted: Mutex<HashMap<(Call, Wanted), oneshot::Sender<Parcel>>>,
    questions: Mutex<Questions>,
}

/// A part of a component, with the bytes beside it.
type Parcel = (Given, Bytes);

/// Questions of runs that wait for their answers.
#[derive(Default)]
struct Questions {
    asked: Question,
    open: HashMap<Question, Replier>,
}

impl Conversation {
    async fn hold(&mut self, lender: &Arc<Lender>) {
        let mut word = interval(WORD_EVERY);
        word.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_leaving = false;
        loop {
            let silent_at = self.frames.heard_at() + LENDER_WAITS;
            tokio::select! {
                order = self.frames.next() => match order {
                    Ok(Some((order, beside))) => lender.obey(order, beside, &mut self.orders),
                    Ok(None) => return,
                    Err(error) => {
                        tracing::warn!(%error, "the node that borrowed workers is gone");
                        return;
                    }
                },
                Some((call, message)) = self.messages.recv() => lender.tell(call, message),
                Some((errand, is_done)) = self.errands.recv() => {
                    // All that the runs said before is heard before.
                    while let Ok((call, message)) = self.messages.try_recv() {
                        lender.tell(call, message);
                    }
                    lender.report(&Report::Done { errand, is_done }, &[]);
                }
                _ = word.tick() => lender.say_alive(),
                () = sleep_until(silent_at) => {
                    tracing::warn!("the node that borrowed workers is silent; its runs end here");
                    return;
                }
                () = lender.leaving.cancelled(), if !is_leaving => {
                    is_leaving = true;
                    lender.say_alive();
                }
                Some(_) = self.orders.join_next() => {}
            }
        }
    }
}

impl Lender {
    fn obey(self: &Arc<Self>, order: Order, beside: Bytes, orders: &mut JoinSet<()>) {
        let lender = Arc::clone(self);
        match order {
            Order::Invoke { call, worker, run } => self.begin(call, worker, run, orders),
            Order::Given { call, what, given } => {
                if let Some(waiting) = self.wanted.lock().remove(&(call, what)) {
                    let _ = waiting.send((given, beside));
                }
            }
            Order::Answer { question, answer } => {
                let asked = self.questions.lock().open.remove(&question);
                if let Some(replier) = asked {
                    orders.spawn(lender.answer(question, replier, answer));
                }
            }
            Order::ForgetTmp { owner, tmp } => {
                orders.spawn(async move { lender.engine.forget_tmp(&owner, &tmp).await });
            }
            Order::Release { errand, owner } => {
                orders.spawn(async move {
                    let is_done = lender.engine.release(&owner).await;
                    lender.has_left(&owner, is_done);
                    let _ = lender.done.send((errand, is_done));
                });
            }
            Order::Evict { errand, owner } => {
                orders.spawn(async move {
                    lender.engine.evict(&owner).await;
                    lender.has_left(&owner, true);
                    let _ = lender.done.send((errand, true));
                });
            }
            Order::Alive => {}
        }
    }

    fn begin(self: &Arc<Self>, call: Call, worker: Spec, run: Run, orders: &mut JoinSet<()>) {
        let owner = worker.owner.clone();
        let refused = match run.into_invocation(call) {
            _ if self.leaving.is_cancelled() => {
                EngineError::WorkerLost("the node is about to stop".to_owned())
            }
            Err(error) => error,
            Ok(invocation) => {
                self.under_way.lock().insert(call, owner.clone());
                self.owners.lock().insert(owner);
                let lender = Arc::clone(self);
                let worker = self.worker(call, worker);
                orders.spawn(async move {
                    let sink = lender.sink.clone();
                    let refused = lender.engine.invoke(&worker, invocation, sink).await.err();
                    if refused.is_some() {
                        lender.under_way.lock().remove(&call);
                    }
                    lender.report(&Report::Invoked { call, refused }, &[]);
                });
                return;
            }
        };
        let refused = Some(refused);
        self.report(&Report::Invoked { call, refused }, &[]);
    }

    fn worker(self: &Arc<Self>, call: Call, worker: Spec) -> WorkerSpec {
        let lender = Arc::clone(self);
        WorkerSpec {
            owner: worker.owner,
            tenant: worker.tenant.into(),
            is_isolated: worker.is_isolated,
            heap_mib: worker.heap_mib,
            artifact_hash: worker.artifact_hash,
            env: worker.env,
            state: Arc::new(State { call, lender }),
        }
    }

    /// Answers a run once it has room: the borrower has few answers on their way to each run.
    async fn answer(self: Arc<Self>, question: Question, mut replier: Replier, answer: Answer) {
        replier.room().await;
        replier.answer(answer.into_reply());
        self.report(&Report::Taken { question }, &[]);
    }

    /// Forgets an owner that has no place any more, unless it is getting one again.
    fn has_left(&self, owner: &WorkerOwner, has_left: bool) {
        let is_under_way = || self.under_way.lock().values().any(|other| other == owner);
        if has_left && !is_under_way() {
            self.owners.lock().remove(owner);
        }
    }

    fn tell(&self, call: Call, message: RunMessage) {
        if matches!(message, RunMessage::Outcome(_)) {
            self.under_way.lock().remove(&call);
        }
        let mut said = self.said(message);
        let body = said.take_body();
        self.report(&Report::Said { call, said }, &body);
    }

    fn said(&self, message: RunMessage) -> Said {
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
            RunMessage::Outcome(outcome) => Said::Outcome(Ended::of(&outcome)),
        }
    }

    fn said_by_step(&self, step: StepMessage) -> Said {
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

    /// Keeps the way back to a run that asks.
    fn ask(&self, reply: Replier) -> Question {
        let mut questions = self.questions.lock();
        questions.asked += 1;
        let question = questions.asked;
        questions.open.insert(question, reply);
        question
    }

    async fn give_all_up(&self) {
        self.wanted.lock().clear();
        let owners = std::mem::take(&mut *self.owners.lock());
        join_all(owners.iter().map(|owner| self.engine.evict(owner))).await;
        self.questions.lock().open.clear();
    }

    fn say_alive(&self) {
        let status = self.engine.status();
        let alive = Report::Alive {
            warm: status.warm_workers,
            workers: status.source_workers,
            is_leaving: self.leaving.is_cancelled(),
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
    async fn want(&self, what: Wanted) -> Result<Parcel, EngineError> {
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
            (Given::KeyValues(values), _) => values.into_values(),
            _ => Err(EngineError::Protocol("key-values were wanted".to_owned())),
        }
    }
}
