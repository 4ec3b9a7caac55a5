//! Runs in flight of one source: starting them, collecting their messages, closing them.

use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures::{
    StreamExt,
    future::{BoxFuture, abortable},
    stream::FuturesUnordered,
};
use headwater_engine::{EngineError, Invocation, Response, RunId, RunMessage, WorkerSpec};
use headwater_model::{id::InvocationId, outcome::Outcome, time::EpochMs, trace::TraceParent};
use headwater_store::{Lane, Lease, Owner, SentResponse, Usage};
use tokio::{sync::mpsc, time::Instant};

use super::{
    commits::Commits,
    context::RunnerContext,
    effects::{Effects, Logged},
    invocation::{CustomResponse, Reply},
    part::{After, RunPart},
    run::{Cause, RunInFlight},
};
use crate::{
    data_stores::StoreRequests,
    log_line::{LogLine, OpenLog},
    metrics::outcome_name,
    spans::{Attribute, Span},
};

/// The pause in which lines are gathered before watchers hear of them; a run that ends sooner costs nothing.
const LOG_PAUSE: Duration = Duration::from_millis(300);

type Start = BoxFuture<'static, (RunId, Result<(), EngineError>)>;

/// A message of a run or its start.
pub(super) enum FlightMessage {
    Message(RunId, RunMessage),
    Started(RunId, Result<(), EngineError>),
}

/// A run that has ended.
pub(super) struct EndedRun {
    pub(super) cause: Cause,
    pub(super) effects: Effects,
    pub(super) outcome: Outcome,
    pub(super) usage: Usage,
    /// Whether part of it is committed already.
    pub(super) flushed: bool,
    /// Whether it wrote to a data store, which is durable at once.
    pub(super) stored: bool,
    /// Whether a worker had it at all.
    pub(super) began: bool,
    /// The time it was started, in epoch milliseconds.
    pub(super) started_at_ms: EpochMs,
    /// The answer that it sent.
    pub(super) response: Option<SentResponse>,
    /// The place in its trace of things that it caused.
    pub(super) trace: Option<TraceParent>,
}

/// The runs in flight.
pub(super) struct Flight {
    context: Arc<RunnerContext>,
    sink: mpsc::UnboundedSender<(RunId, RunMessage)>,
    messages: mpsc::UnboundedReceiver<(RunId, RunMessage)>,
    starting: FuturesUnordered<Start>,
    runs: HashMap<RunId, RunInFlight>,
    next_run: RunId,
    /// The place of the next key-value write among all of the source.
    next_write: u64,
    http: usize,
    serial: usize,
    suspects: usize,
    /// The time to tell watchers that runs have logged, if they have since that was told.
    log_due: Option<Instant>,
}

impl Flight {
    pub(super) fn new(context: Arc<RunnerContext>) -> Self {
        let (sink, messages) = mpsc::unbounded_channel();
        Self {
            context,
            sink,
            messages,
            starting: FuturesUnordered::new(),
            runs: HashMap::new(),
            next_run: 0,
            next_write: 0,
            http: 0,
            serial: 0,
            suspects: 0,
            log_due: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// HTTP runs in flight.
    pub(super) fn http(&self) -> usize {
        self.http
    }

    /// Timer, event and manual runs in flight.
    pub(super) fn serial(&self) -> usize {
        self.serial
    }

    /// Whether a run is in flight that lost a worker before: it may be the cause, and runs alone.
    pub(super) fn has_suspect(&self) -> bool {
        self.suspects > 0
    }

    /// The leases of the runs in flight.
    pub(super) fn leases(&self) -> impl Iterator<Item = Lease> {
        self.runs.values().filter_map(|run| match &run.cause {
            Cause::Invocation(invocation) => invocation.lease.clone(),
            Cause::Hook { .. } => None,
        })
    }

    /// Holds on to the lease if it is one of a run in flight, in place of the former.
    pub(super) fn renew(&mut self, lease: &Lease) -> bool {
        self.runs.values_mut().any(|run| match &mut run.cause {
            Cause::Invocation(invocation) => invocation.renew(lease),
            Cause::Hook { .. } => false,
        })
    }

    /// The place of the first key-value write that a run in flight has made, or will make.
    pub(super) fn first_write(&self) -> u64 {
        let runs = self.runs.values();
        let first = runs.filter_map(|run| run.effects.first_write()).min();
        first.unwrap_or(self.next_write)
    }

    /// Starts a run; `invocation` is created for the id that the run gets.
    pub(super) fn start(
        &mut self,
        cause: Cause,
        span: Span,
        owner: Owner,
        worker: WorkerSpec,
        invocation: impl FnOnce(RunId) -> Invocation,
    ) {
        let run = self.next_run;
        self.next_run += 1;
        self.count(&cause, 1);
        let invocation = invocation(run);
        let tracked = RunInFlight {
            cause,
            span,
            effects: Effects::default(),
            store_requests: StoreRequests::new(owner, &invocation.props),
            started: std::time::Instant::now(),
            started_at_ms: self.context.core.env.now_ms(),
            starting: None,
            response: None,
            flushed: false,
            stored: false,
        };
        self.runs.insert(run, tracked);
        let (engine, sink) = (Arc::clone(&self.context.core.engine), self.sink.clone());
        let mut start: Start =
            Box::pin(async move { (run, engine.invoke(&worker, invocation, sink).await) });
        // A worker that is there takes the run at once, and nothing is to be said of it.
        match start.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready((_, Ok(()))) => {}
            Poll::Ready(failed) => self.starting.push(Box::pin(std::future::ready(failed))),
            Poll::Pending => {
                let (start, handle) = abortable(start);
                self.starting.push(Box::pin(async move {
                    // One that was ended says nothing, as its run is no longer in flight.
                    start.await.unwrap_or((run, Ok(())))
                }));
                if let Some(tracked) = self.runs.get_mut(&run) {
                    tracked.starting = Some(handle);
                }
            }
        }
    }

    /// The logs of runs under way that have logged since their last commit, in the order in which they were queued.
    pub(super) fn logged(&self) -> Vec<OpenLog> {
        let runs = self.runs.values();
        let runs = runs.filter(|run| !run.effects.logs.is_empty());
        let mut logs: Vec<_> = runs
            .map(|run| OpenLog {
                run_id: run.cause.invocation_id().clone(),
                lines: run.effects.logs.iter().map(LogLine::from).collect(),
            })
            .collect();
        logs.sort_by(|one, other| one.run_id.cmp(&other.run_id));
        logs
    }

    /// Waits until watchers are to hear that runs have logged; forever if there is nothing new.
    pub(super) fn log_due(&self) -> impl Future<Output = ()> + use<> {
        let log_due = self.log_due;
        async move {
            match log_due {
                Some(log_due) => tokio::time::sleep_until(log_due).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Watchers have heard.
    pub(super) fn log_told(&mut self) {
        self.log_due = None;
    }

    /// Takes out the run of an invocation that a lease holds, as cancelled. Its code may still be at work.
    pub(super) fn cancel(&mut self, id: &InvocationId, message: &str) -> Option<EndedRun> {
        let is_meant = |run: &RunInFlight| match &run.cause {
            Cause::Invocation(invocation) => {
                invocation.invocation_id == *id && invocation.lease.is_some()
            }
            Cause::Hook { .. } => false,
        };
        let mut runs = self.runs.iter();
        let (&run, tracked) = runs.find(|(_, run)| is_meant(run))?;
        if let Some(starting) = &tracked.starting {
            starting.abort();
        }
        let message = message.to_owned();
        self.end(run, Outcome::Cancelled { message })
    }

    fn count(&mut self, cause: &Cause, by: isize) {
        if matches!(cause, Cause::Invocation(invocation) if invocation.tries > 1) {
            self.suspects = self.suspects.saturating_add_signed(by);
        }
        match cause {
            Cause::Invocation(invocation) if invocation.trigger.lane() == Lane::Concurrent => {
                self.http = self.http.saturating_add_signed(by)
            }
            Cause::Invocation(_) => self.serial = self.serial.saturating_add_signed(by),
            Cause::Hook { .. } => {}
        }
    }

    /// Waits for the next message of a run; forever if none is in flight.
    pub(super) async fn next(&mut self) -> FlightMessage {
        tokio::select! {
            Some((run, message)) = self.messages.recv() => FlightMessage::Message(run, message),
            Some((run, started)) = self.starting.next() => FlightMessage::Started(run, started),
        }
    }

    /// Handles a message and those queued behind it. Returns the runs that have ended with them.
    pub(super) fn on_message(
        &mut self,
        message: FlightMessage,
        commits: &mut Commits,
        now_ms: EpochMs,
    ) -> Vec<EndedRun> {
        let mut ended = Vec::new();
        match message {
            FlightMessage::Message(run, message) => {
                ended.extend(self.take(run, message, commits, now_ms))
            }
            FlightMessage::Started(_, Ok(())) => {}
            FlightMessage::Started(run, Err(error)) => {
                let message = error.to_string();
                let lost = self.end(run, Outcome::Lost { message });
                ended.extend(lost.map(|ended| EndedRun {
                    began: false,
                    ..ended
                }));
            }
        }
        while let Ok((run, message)) = self.messages.try_recv() {
            ended.extend(self.take(run, message, commits, now_ms));
        }
        ended
    }

    fn take(
        &mut self,
        id: RunId,
        message: RunMessage,
        commits: &mut Commits,
        now_ms: EpochMs,
    ) -> Option<EndedRun> {
        let run = self.runs.get_mut(&id)?;
        match message {
            RunMessage::Emit(emit) => match emit.check() {
                Ok(()) => run.effects.emits.push(emit),
                Err(invalid) => run.effects.rejected.push(invalid),
            },
            RunMessage::KvChanged(change) => {
                run.effects.kv.push((self.next_write, change));
                self.next_write += 1;
            }
            RunMessage::Log { level, text } => {
                run.effects.logs.push(Logged {
                    level,
                    text,
                    ts_ms: now_ms,
                });
                self.log_due
                    .get_or_insert_with(|| Instant::now() + LOG_PAUSE);
            }
            RunMessage::Respond(response) => respond(run, response, commits),
            RunMessage::StoreAsked(request) => {
                run.stored |= request.operation.is_write();
                run.store_requests.take(&self.context.data_stores, request);
            }
            // Of actions, which no runner runs.
            RunMessage::Exported(_) | RunMessage::Exited(_) | RunMessage::Step(_) => {}
            RunMessage::Outcome(outcome) => return self.end(id, outcome),
        }
        None
    }

    fn end(&mut self, id: RunId, outcome: Outcome) -> Option<EndedRun> {
        let run = self.runs.remove(&id)?;
        self.count(&run.cause, -1);
        let time = run.started.elapsed();
        self.context.core.metrics.worked(run.cause.trigger(), time);
        let compute_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let trace = run.span.context();
        let failure = outcome.error().map(|error| error.message);
        let ended = [("headwater.outcome", Attribute::Text(outcome_name(&outcome)))];
        run.span.end(&ended, failure.as_deref());
        Some(EndedRun {
            trace,
            cause: run.cause,
            effects: run.effects,
            outcome,
            usage: Usage {
                invocations: 1,
                compute_ms,
            },
            flushed: run.flushed,
            stored: run.stored,
            began: true,
            started_at_ms: run.started_at_ms,
            response: run.response,
        })
    }
}

/// Sends the response at once; earlier emits and writes of the run are durable first.
fn respond(run: &mut RunInFlight, response: Response, commits: &mut Commits) {
    let Cause::Invocation(invocation) = &mut run.cause else {
        return;
    };
    let reply = match std::mem::replace(&mut invocation.reply, Reply::None) {
        Reply::Response(reply) => reply,
        // Nobody waits for a response: the run was started by hand, or by an event.
        other @ (Reply::None | Reply::Report(_)) => return invocation.reply = other,
    };
    run.response = Some(SentResponse {
        status: response.status,
        bytes: response.body.len() as u64,
    });
    if run.effects.is_silent() {
        let _ = reply.send(CustomResponse::Responded(response));
        return;
    }
    run.flushed = true;
    let effects = std::mem::take(&mut run.effects);
    let mut part = RunPart::of(invocation, After::Respond(reply, response));
    part.origin.trace = run.span.context();
    commits.push(RunPart {
        effects,
        lease: None,
        ..part
    });
}
