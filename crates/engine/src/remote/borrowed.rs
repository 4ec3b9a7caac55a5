//! The side of the machine that borrows: the workers of one other machine.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use headwater_model::outcome::Outcome;
use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{MissedTickBehavior, interval, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    BORROWER_WAITS, WORD_EVERY, Wire,
    frames::{Frames, frame},
    messages::{
        Answer, Call, Errand, Given, Order, Question, Report, Run, Said, Spec, Texts, Wanted,
    },
    weight::Weight,
};
use crate::{
    api::{
        EngineError, Invocation, RunId, RunMessage, RunSink, WorkerOwner, WorkerSpec, WorkerState,
    },
    data_store::{Replier, StoreRequest},
    step::{ServiceRequest, StepMessage},
};

/// The time in which a lender gives its workers up at the end.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(5);
/// Answers on their way to a run at a time.
const ANSWERS_MAX: usize = 64;
const LOST: &str = "the node that ran it was lost";

/// The workers of another machine, until it is lost.
pub(super) struct Borrowed {
    name: String,
    weight: Weight,
    outgoing: Mutex<Option<mpsc::UnboundedSender<Bytes>>>,
    next: AtomicU64,
    calls: Mutex<HashMap<Call, UnderWay>>,
    errands: Mutex<HashMap<Errand, oneshot::Sender<bool>>>,
    /// Answers that are on their way to their runs.
    answering: Mutex<HashMap<Question, OwnedSemaphorePermit>>,
    numbers: Mutex<Numbers>,
    /// Whether the other machine is about to stop.
    is_leaving: AtomicBool,
    /// Whether it is to be given nothing more.
    is_spared: AtomicBool,
    over: CancellationToken,
}

/// The workers that a lender has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbers {
    pub(super) warm: usize,
    pub(super) workers: usize,
}

/// A run on the other machine.
struct UnderWay {
    run: RunId,
    sink: RunSink,
    state: Arc<dyn WorkerState>,
    /// Room for answers on their way to it.
    answers: Arc<Semaphore>,
    /// `None` once it was begun.
    begun: Option<oneshot::Sender<Result<(), EngineError>>>,
}

impl Borrowed {
    /// Begins the conversation.
    pub(super) fn begin(name: String, weight: Weight, wire: Wire) -> Arc<Self> {
        let borrowed = Arc::new(Self {
            name,
            weight,
            outgoing: Mutex::new(Some(wire.outgoing)),
            next: AtomicU64::new(1),
            calls: Mutex::default(),
            errands: Mutex::default(),
            answering: Mutex::default(),
            numbers: Mutex::default(),
            is_leaving: AtomicBool::new(false),
            is_spared: AtomicBool::new(false),
            over: CancellationToken::new(),
        });
        let frames = Frames::of(wire.incoming);
        tokio::spawn(Arc::clone(&borrowed).listen(frames));
        borrowed
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn weight(&self) -> Weight {
        self.weight
    }

    /// Whether it has not been lost.
    pub(super) fn is_there(&self) -> bool {
        !self.over.is_cancelled()
    }

    /// Whether it takes new places.
    pub(super) fn is_open(&self) -> bool {
        self.is_there() && !self.is_leaving.load(Relaxed) && !self.is_spared.load(Relaxed)
    }

    pub(super) fn set_spared(&self, is_spared: bool) {
        self.is_spared.store(is_spared, Relaxed);
    }

    pub(super) fn numbers(&self) -> Numbers {
        *self.numbers.lock()
    }

    pub(super) fn runs(&self) -> usize {
        self.calls.lock().len()
    }

    /// As [`crate::Engine::invoke`]; a run of which it is not known whether it was begun has begun, and is lost.
    pub(super) async fn invoke(
        &self,
        worker: &WorkerSpec,
        invocation: &Invocation,
        sink: &RunSink,
    ) -> Result<(), EngineError> {
        let call = self.number();
        let (begun, answered) = oneshot::channel();
        let under_way = UnderWay {
            run: invocation.run,
            sink: sink.clone(),
            state: Arc::clone(&worker.state),
            answers: Arc::new(Semaphore::new(ANSWERS_MAX)),
            begun: Some(begun),
        };
        let order = Order::Invoke {
            call,
            worker: Spec::of(worker),
            run: Run::of(invocation)?,
        };
        {
            let mut calls = self.calls.lock();
            if !self.is_there() {
                return Err(EngineError::WorkerLost(LOST.to_owned()));
            }
            calls.insert(call, under_way);
        }
        if let Err(error) = self.order(&order, &[]) {
            self.calls.lock().remove(&call);
            return Err(error);
        }
        answered.await.unwrap_or(Ok(()))
    }

    pub(super) fn forget_tmp(&self, owner: &WorkerOwner, tmp: &str) {
        let (owner, tmp) = (owner.clone(), tmp.to_owned());
        self.say(&Order::ForgetTmp { owner, tmp }, &[]);
    }

    /// As [`crate::Engine::release`].
    pub(super) async fn release(&self, owner: &WorkerOwner) -> bool {
        let owner = owner.clone();
        self.errand(|errand| Order::Release { errand, owner }).await
    }

    /// As [`crate::Engine::evict`].
    pub(super) async fn evict(&self, owner: &WorkerOwner) {
        let owner = owner.clone();
        self.errand(|errand| Order::Evict { errand, owner }).await;
    }

    /// Ends the conversation, and waits until the lender has given its workers up.
    pub(super) async fn end(&self) {
        drop(self.outgoing.lock().take());
        let _ = timeout(GIVEN_UP_WITHIN, self.over.cancelled()).await;
        self.lose();
    }

    /// Has something done; a lender that is lost has nothing left of what it had.
    async fn errand(&self, order: impl FnOnce(Errand) -> Order) -> bool {
        let errand = self.number();
        let (done, waiting) = oneshot::channel();
        {
            let mut errands = self.errands.lock();
            if !self.is_there() {
                return true;
            }
            errands.insert(errand, done);
        }
        self.say(&order(errand), &[]);
        waiting.await.unwrap_or(true)
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    /// # Errors
    /// It cannot be said.
    fn order(&self, order: &Order, beside: &[u8]) -> Result<(), EngineError> {
        let frame = frame(order, beside)?;
        let outgoing = self.outgoing.lock();
        let outgoing = outgoing.as_ref();
        let outgoing = outgoing.ok_or_else(|| EngineError::WorkerLost(LOST.to_owned()))?;
        // The end of the conversation is noticed by the one who listens.
        let _ = outgoing.send(frame);
        Ok(())
    }

    fn say(&self, order: &Order, beside: &[u8]) {
        match self.order(order, beside) {
            // It is over; nothing of it is left there.
            Ok(()) | Err(EngineError::WorkerLost(_)) => {}
            Err(error) => {
                tracing::error!(%error, node = self.name, "cannot tell another node what to do");
            }
        }
    }

    async fn listen(self: Arc<Self>, mut frames: Frames) {
        let mut word = interval(WORD_EVERY);
        word.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let silent_at = frames.heard_at() + BORROWER_WAITS;
            tokio::select! {
                report = frames.next() => match report {
                    Ok(Some((report, beside))) => self.hear(report, beside),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(%error, node = self.name, "a node that lends workers is gone");
                        break;
                    }
                },
                _ = word.tick() => self.say(&Order::Alive, &[]),
                () = sleep_until(silent_at) => {
                    tracing::warn!(node = self.name, "a node that lends workers is silent; its runs count as lost");
                    break;
                }
            }
            if self.is_leaving.load(Relaxed) && self.calls.lock().is_empty() {
                drop(self.outgoing.lock().take());
            }
        }
        self.lose();
    }

    fn lose(&self) {
        self.over.cancel();
        drop(self.outgoing.lock().take());
        let calls = std::mem::take(&mut *self.calls.lock());
        for under_way in calls.into_values() {
            let message = LOST.to_owned();
            let lost = RunMessage::Outcome(Outcome::Lost { message });
            let _ = under_way.sink.send((under_way.run, lost));
        }
        self.errands.lock().clear();
        self.answering.lock().clear();
    }

    fn hear(self: &Arc<Self>, report: Report, beside: Bytes) {
        match report {
            Report::Wants { call, what } => self.give(call, what),
            Report::Invoked {
                call,
                refused: None,
            } => {
                let mut calls = self.calls.lock();
                let begun = calls.get_mut(&call).and_then(|run| run.begun.take());
                begun.map(|begun| begun.send(Ok(())));
            }
            Report::Invoked {
                call,
                refused: Some(error),
            } => {
                let refused = self.calls.lock().remove(&call);
                refused
                    .and_then(|run| run.begun)
                    .map(|begun| begun.send(Err(error)));
            }
            Report::Said { call, said } => self.pass(call, said.with_body(beside)),
            Report::Taken { question } => drop(self.answering.lock().remove(&question)),
            Report::Done { errand, is_done } => {
                let waiting = self.errands.lock().remove(&errand);
                waiting.map(|waiting| waiting.send(is_done));
            }
            Report::Alive {
                warm,
                workers,
                is_leaving,
            } => {
                *self.numbers.lock() = Numbers { warm, workers };
                self.is_leaving.store(is_leaving, Relaxed);
            }
        }
    }

    fn give(self: &Arc<Self>, call: Call, what: Wanted) {
        let state = self
            .calls
            .lock()
            .get(&call)
            .map(|run| Arc::clone(&run.state));
        let Some(state) = state else { return };
        let borrowed = Arc::clone(self);
        tokio::spawn(async move {
            let given = match what {
                Wanted::Artifact => state.artifact().await.map(|bytes| (Given::Artifact, bytes)),
                Wanted::KeyValues => {
                    let values = state.key_values().await.and_then(|map| Texts::of(&map));
                    values.map(|values| (Given::KeyValues(values), Bytes::new()))
                }
            };
            let (given, beside) =
                given.unwrap_or_else(|error| (Given::Refused(error), Bytes::new()));
            borrowed.say(&Order::Given { call, what, given }, &beside);
        });
    }

    /// Passes a message of a run on to whoever has begun it.
    fn pass(self: &Arc<Self>, call: Call, said: Said) {
        let mut calls = self.calls.lock();
        let Some(under_way) = calls.get(&call) else {
            return;
        };
        let (run, sink) = (under_way.run, under_way.sink.clone());
        let message = self.message(said, &under_way.answers);
        if matches!(message, RunMessage::Outcome(_))
            && let Some(begun) = calls.remove(&call).and_then(|run| run.begun)
        {
            let _ = begun.send(Ok(()));
        }
        drop(calls);
        let _ = sink.send((run, message));
    }

    fn message(self: &Arc<Self>, said: Said, answers: &Arc<Semaphore>) -> RunMessage {
        match said {
            Said::Emit(emit) => RunMessage::Emit(emit),
            Said::Respond(response) => RunMessage::Respond(response),
            Said::Log { level, text } => RunMessage::Log { level, text },
            Said::KvChanged(change) => RunMessage::KvChanged(change),
            Said::Exported(export) => RunMessage::Exported(export),
            Said::Exited(reason) => RunMessage::Exited(reason),
            Said::StoreAsked {
                question,
                store,
                operation,
            } => {
                let reply = self.replier(question, answers);
                RunMessage::StoreAsked(StoreRequest {
                    store,
                    operation,
                    reply,
                })
            }
            Said::Outcome(ended) => RunMessage::Outcome(ended.into_outcome()),
            Said::Skipped => RunMessage::Step(StepMessage::Skipped),
            Said::Flow(flow) => RunMessage::Step(StepMessage::Flow(flow)),
            Said::Sent(sent) => RunMessage::Step(StepMessage::Sent(sent)),
            Said::Responded(response) => RunMessage::Step(StepMessage::Responded(response)),
            Said::ResponseBody { bytes, has_more } => {
                RunMessage::Step(StepMessage::ResponseBody { bytes, has_more })
            }
            Said::ResponseRefused(reason) => RunMessage::Step(StepMessage::ResponseRefused(reason)),
            Said::Asked {
                question,
                service,
                operation,
                arguments,
            } => {
                let reply = self.replier(question, answers);
                let request = ServiceRequest {
                    service,
                    operation,
                    arguments,
                    reply,
                };
                RunMessage::Step(StepMessage::Asked(request))
            }
        }
    }

    /// The way back to a run. Its answers have room as long as few are on their way: one that never reads must not fill the
    /// memory of two machines.
    fn replier(self: &Arc<Self>, question: Question, answers: &Arc<Semaphore>) -> Replier {
        let (answering, waiting) = (Arc::clone(self), Arc::clone(self));
        let answer = move |reply| {
            let answer = Answer::of(reply);
            answering.say(&Order::Answer { question, answer }, &[]);
        };
        let answers = Arc::clone(answers);
        Replier::new(answer, async move {
            if let Ok(permit) = answers.acquire_owned().await {
                waiting.answering.lock().insert(question, permit);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use futures::{StreamExt as _, stream};
    use headwater_model::{id::InvocationId, time::EpochMs};
    use tokio::time::Instant;

    use super::*;

    /// A lender that is there and says nothing, as one whose machine hangs.
    #[tokio::test(start_paused = true)]
    async fn a_lender_that_is_silent_is_lost_with_what_it_was_asked_for() {
        let (outgoing, _heard) = mpsc::unbounded_channel();
        let wire = Wire {
            incoming: stream::pending().boxed(),
            outgoing,
        };
        let begun = Instant::now();
        let weight = Weight::of_processors(NonZeroUsize::MIN);
        let borrowed = Borrowed::begin("silent".to_owned(), weight, wire);
        let owner = WorkerOwner::Call(InvocationId::new(EpochMs(1), 1));
        assert!(borrowed.release(&owner).await);
        assert!(!borrowed.is_there());
        assert!(begun.elapsed() >= BORROWER_WAITS);
        // And the next one does not wait.
        let now = Instant::now();
        borrowed.evict(&owner).await;
        assert_eq!(now.elapsed(), Duration::ZERO);
    }
}
