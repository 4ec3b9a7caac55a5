//! The runs in flight of one worker: what each may still use, and how each ends.
//!
//! Responsible for: turning the worker's frames into messages of runs, counting what runs use, and
//! exactly one outcome per run, last. Does no I/O: [`Runs::ending`] tells when the process has to go.

mod harm;
mod steps;
mod time_limit;

use std::{collections::BTreeMap, sync::Arc};

use headwater_model::{
    limits::RunLimits,
    outcome::{ComponentError, Limit, Outcome},
};
use tokio::time::Instant;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use super::{
    components::{Components, Trouble},
    ending::{self, Ending, Exit},
    log_budget::LogBudget,
    protocol::{ComponentNumber, Kind, WorkerFrame},
    pulse::Pulse,
    turns::Turn,
};
use time_limit::TimeLimit;

use crate::{
    api::{Entry, Invocation, LogLevel, RunId, RunMessage, RunSink},
    data_store::{Replier, StoreRequest},
};

/// The runtime cuts logs at the limit and then says so; the host's own count only backs it up.
const LOG_SLACK_BYTES: usize = 4 * 1024;

struct Run {
    name: RunId,
    component: ComponentNumber,
    sink: RunSink,
    time: TimeLimit,
    output_bytes: usize,
    logs: LogBudget,
    /// Lines that name no run, charged to this one.
    strays: LogBudget,
    has_responded: bool,
    is_step: bool,
    _turn: Turn,
    _of_component: TaskTrackerToken,
}

/// Creates the channel for the answer to a run's request.
pub(super) type Answer = Arc<dyn Fn(u64, u64) -> Replier + Send + Sync>;

/// The result of dropping a component.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// It has runs, and stays.
    HasRuns,
    /// The worker has others, and needs an unload frame if this one's load frame was sent.
    OthersAreLeft { is_load_sent: bool },
    /// The worker has none any more and has to go.
    WasLast,
}

/// The table of components and their runs.
pub(super) struct Runs {
    limits: RunLimits,
    /// Leads answers to the worker.
    answer: Answer,
    last_id: u64,
    components: Components,
    in_flight: BTreeMap<u64, Run>,
    ending: Option<Ending>,
    idle_since: Instant,
    pulse: Pulse,
    /// The time when the deadlines are looked at next; `None` when only a call can cause that.
    next_look: Option<Instant>,
}

impl Run {
    fn send(&self, message: RunMessage) {
        // A caller that is gone needs no message.
        let _ = self.sink.send((self.name, message));
    }

    fn log(&self, line: Option<RunMessage>) {
        if let Some(line) = line {
            self.send(line);
        }
    }
}

impl Runs {
    pub(super) fn new(limits: RunLimits, answer: Answer, now: Instant) -> Self {
        Self {
            limits,
            answer,
            last_id: 0,
            components: Components::default(),
            in_flight: BTreeMap::new(),
            ending: None,
            idle_since: now,
            pulse: Pulse::default(),
            next_look: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }

    pub(super) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The time since which there has been no run; `None` while there is one.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.in_flight.is_empty().then_some(self.idle_since)
    }

    /// Decides that the worker has to end; the first reason counts.
    pub(super) fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
    }

    /// Adds a component and returns its number in the worker.
    pub(super) fn add_component(&mut self) -> ComponentNumber {
        self.components.add()
    }

    /// Records that the component's load frame was sent.
    pub(super) fn load_sent(&mut self, component: ComponentNumber, now: Instant) {
        self.components.load_sent(component, now);
    }

    /// The runs of a component that takes no more, to be waited for.
    pub(super) fn last_runs(&self, component: ComponentNumber) -> Option<TaskTracker> {
        self.components.last_runs(component)
    }

    /// Cancelled once the component's module has been evaluated; `None` for one that is not there.
    pub(super) fn loading(&self, component: ComponentNumber) -> Option<CancellationToken> {
        self.components.loading(component)
    }

    /// Drops a component unless it has runs. A worker whose last one it was has to go.
    pub(super) fn remove_component(&mut self, component: ComponentNumber) -> Removal {
        if self.of_component(component).next().is_some() {
            return Removal::HasRuns;
        }
        let is_load_sent = self.components.remove(component);
        if !self.components.is_empty() {
            return Removal::OthersAreLeft { is_load_sent };
        }
        self.end(Ending::Dismissed);
        Removal::WasLast
    }

    /// Adds a run and returns its number in the worker, and whether deadlines have to be checked earlier than planned.
    /// `None` when this worker, or the component, takes no more runs.
    pub(super) fn add(
        &mut self,
        component: ComponentNumber,
        invocation: &Invocation,
        sink: &RunSink,
        turn: Turn,
        now: Instant,
    ) -> Option<(u64, bool)> {
        if self.ending.is_some() {
            return None;
        }
        let of_component = self.components.run(component)?;
        let usual = match invocation.entry {
            Entry::Hook { .. } => self.limits.hook_wall,
            Entry::Run
            | Entry::Options { .. }
            | Entry::AdditionalProps
            | Entry::Step
            | Entry::Evaluate => self.limits.run_wall,
        };
        let wall = invocation.wall.unwrap_or(usual);
        self.last_id += 1;
        let time = TimeLimit::new(wall, now);
        let deadline = time.deadline();
        let run = Run {
            name: invocation.run,
            component,
            sink: sink.clone(),
            time,
            output_bytes: 0,
            logs: LogBudget::new(self.limits.log_bytes + LOG_SLACK_BYTES),
            strays: LogBudget::new(self.limits.log_bytes),
            has_responded: false,
            is_step: matches!(invocation.entry, Entry::Step),
            _turn: turn,
            _of_component: of_component,
        };
        self.in_flight.insert(self.last_id, run);
        let is_earlier = self.next_look.is_none_or(|look| deadline < look);
        Some((self.last_id, is_earlier))
    }

    /// Takes a run back that was never sent.
    pub(super) fn forget(&mut self, id: u64) {
        self.in_flight.remove(&id);
    }

    /// Ends the worker if a deadline has passed, else returns the time of the next check.
    pub(super) fn look_at_deadlines(&mut self, now: Instant) -> Option<Instant> {
        let of_runs = self.in_flight.iter();
        let of_runs = of_runs.map(|(&id, run)| (id, run.time, run.is_step));
        let earliest = of_runs.min_by_key(|(_, time, _)| time.deadline());
        if let Some((run, time, is_step)) = earliest
            && time.deadline() <= now
        {
            let message = time.message(is_step);
            let limit = Limit::Wall;
            // Another component's code may have kept this run from going on.
            let is_its_own = self.running().len() == 1 || !self.pulse.is_awaited();
            self.end(match is_its_own {
                true => Ending::Limit {
                    run,
                    limit,
                    message,
                },
                false => Ending::Excess { limit, message },
            });
        }
        self.next_look = earliest
            .map(|(_, time, _)| time.deadline())
            .filter(|_| self.ending.is_none());
        self.next_look
    }

    /// Handles a frame, of a run or without one.
    pub(super) fn frame(&mut self, frame: WorkerFrame<'_>, bytes: usize, now: Instant) {
        match frame.kind {
            Kind::Log => self.log(frame),
            Kind::Emit | Kind::Respond | Kind::Export | Kind::Exit => self.output(frame, bytes),
            Kind::RefreshTimeout => self.refresh_timeout(frame.id, bytes, now),
            Kind::Skipped
            | Kind::Flow
            | Kind::Send
            | Kind::RespondBody
            | Kind::RespondRefused
            | Kind::Ask => self.of_step(frame, bytes),
            Kind::Kv => self.key_value(frame, bytes),
            Kind::DataStore => self.ask_store(frame, bytes),
            Kind::Outcome => self.outcome(frame, now),
            Kind::Pong => self.pulse.felt(),
            Kind::Loaded => {
                if let Some(component) = frame.component {
                    self.components.loaded(component);
                }
            }
            Kind::LoadFailed => self.load_failed(frame, now),
            Kind::Ready | Kind::Described | Kind::DescribeFailed => {}
        }
    }

    /// Output that is not a frame.
    pub(super) fn noise(&mut self, level: LogLevel, bytes: &[u8]) {
        let wanted = self
            .of_strays(None)
            .next()
            .is_some_and(|run| run.strays.is_open());
        if wanted {
            // No more than can be kept is worth making text of.
            let shown = &bytes[..bytes.len().min(self.limits.log_bytes)];
            let text = String::from_utf8_lossy(shown).trim_end().to_owned();
            self.stray_log(None, level, text, bytes.len());
        }
    }

    /// A frame of `run` is larger than everything it may put out.
    pub(super) fn too_large(&mut self, run: Option<u64>) {
        let mut runs = self.in_flight.keys().copied();
        let only = runs.next().filter(|_| runs.next().is_none());
        let only = only.filter(|_| self.components.is_only_the_first());
        match run.or(only) {
            Some(run) => self.end(self.output_exceeded(run)),
            None => self.end(Ending::Protocol(
                "it sent a frame larger than any may be".into(),
            )),
        }
    }

    /// Ends the runs that are left when the process has gone.
    pub(super) fn process_gone(&mut self, exit: &Exit) {
        let causes = self.causes_of_end();
        self.components.harmed_by(&causes);
        let runs = std::mem::take(&mut self.in_flight);
        let is_alone = runs.len() == 1 && self.components.is_only_the_first();
        for (id, run) in runs {
            let outcome = ending::outcome_of_loss(self.ending.as_ref(), id, is_alone, exit);
            run.send(RunMessage::Outcome(outcome));
        }
        self.end(Ending::Dismissed);
    }

    /// The number of components.
    pub(super) fn components(&self) -> usize {
        self.components.len()
    }

    fn log(&mut self, frame: WorkerFrame<'_>) {
        let (id, component) = (frame.id, frame.component);
        let (level, text) = frame.into_log();
        let bytes = text.len();
        match id.and_then(|id| self.in_flight.get_mut(&id)) {
            Some(run) => {
                let line = run.logs.admit(level, text, bytes);
                run.log(line);
            }
            None => self.stray_log(component, level, text, bytes),
        }
    }

    /// Log text that names no run goes to the longest in flight of its component: it is the same source's anyway.
    fn stray_log(
        &mut self,
        component: Option<ComponentNumber>,
        level: LogLevel,
        text: String,
        bytes: usize,
    ) {
        match self.of_strays(component).next() {
            Some(run) => {
                let line = run.strays.admit(level, text, bytes);
                run.log(line);
            }
            None => tracing::debug!(bytes, "a worker without runs logs"),
        }
    }

    /// The runs that text of this component, or of one that is not named, may be of.
    fn of_strays(&mut self, component: Option<ComponentNumber>) -> impl Iterator<Item = &mut Run> {
        let is_known = component.is_some() || self.components.is_only_the_first();
        let runs = self.in_flight.values_mut();
        runs.filter(move |run| is_known && component.is_none_or(|number| run.component == number))
    }

    fn of_component(&self, component: ComponentNumber) -> impl Iterator<Item = u64> {
        let runs = self.in_flight.iter();
        runs.filter(move |(_, run)| run.component == component)
            .map(|(&id, _)| id)
    }

    fn load_failed(&mut self, frame: WorkerFrame<'_>, now: Instant) {
        let Some(component) = frame.component else {
            return;
        };
        let error = frame.error.unwrap_or_default();
        for id in Vec::from_iter(self.of_component(component)) {
            if let Some(run) = self.take_ended(id) {
                let error = error.clone();
                run.send(RunMessage::Outcome(Outcome::Threw { error }));
                self.idle_since = now;
            }
        }
        if !self.components.failed(component) {
            self.end(Ending::Dismissed);
        }
    }

    /// A write to the map of the run's component.
    fn key_value(&mut self, frame: WorkerFrame<'_>, bytes: usize) {
        let id = frame.id;
        let Some(run) = self.charged(id, bytes) else {
            return;
        };
        let component = run.component;
        let is_own = frame.component == Some(component);
        let change = frame.into_kv_change();
        if !is_own || !self.components.has_written(component, change.seq) {
            self.end(Ending::Protocol("it sent a write out of its place".into()));
        } else if let Some(run) = id.and_then(|id| self.in_flight.get(&id)) {
            run.send(RunMessage::KvChanged(change));
        }
    }

    fn output(&mut self, frame: WorkerFrame<'_>, bytes: usize) {
        let Some(run) = self.charged(frame.id, bytes) else {
            return;
        };
        match frame.kind {
            Kind::Emit => run.send(RunMessage::Emit(frame.into_emit())),
            Kind::Export => run.send(RunMessage::Exported(frame.into_export())),
            Kind::Exit => run.send(RunMessage::Exited(frame.into_exit())),
            _ if run.is_step => self.of_step(frame, 0),
            _ if run.has_responded => {}
            _ => match frame.into_response() {
                Some(response) => {
                    run.has_responded = true;
                    run.send(RunMessage::Respond(response));
                }
                None => self.end(Ending::Protocol("it sent a response that is none".into())),
            },
        }
    }

    /// A frame that only steps of workflows send.
    fn of_step(&mut self, frame: WorkerFrame<'_>, bytes: usize) {
        let Some(id) = frame.id else { return };
        let answer = Arc::clone(&self.answer);
        let Some(run) = self.charged(Some(id), bytes) else {
            return;
        };
        match steps::message(frame, |request| answer(id, request)) {
            Some(message) if run.is_step => run.send(RunMessage::Step(message)),
            _ => self.end(Ending::Protocol("it sent a frame out of its place".into())),
        }
    }

    /// The time limit of a step begins anew. Its deadline moves to later only, so that nobody has to look earlier.
    fn refresh_timeout(&mut self, id: Option<u64>, bytes: usize, now: Instant) {
        let Some(run) = self.charged(id, bytes) else {
            return;
        };
        match run.is_step {
            true => run.time.refresh(now),
            false => self.end(Ending::Protocol("it sent a frame out of its place".into())),
        }
    }

    fn ask_store(&mut self, frame: WorkerFrame<'_>, bytes: usize) {
        let Some(id) = frame.id else { return };
        let answer = Arc::clone(&self.answer);
        let Some(run) = self.charged(Some(id), bytes) else {
            return;
        };
        match frame.into_store_operation() {
            Some((request, store, operation)) => run.send(RunMessage::StoreAsked(StoreRequest {
                store,
                operation,
                reply: answer(id, request),
            })),
            None => self.end(Ending::Protocol(
                "it asked a data store for nothing that there is".into(),
            )),
        }
    }

    /// The run, charged with further bytes of output; `None` if it exceeds its limit.
    fn charged(&mut self, id: Option<u64>, bytes: usize) -> Option<&mut Run> {
        let id = id?;
        let run = self.in_flight.get_mut(&id)?;
        run.output_bytes += bytes;
        if run.output_bytes > self.limits.output_bytes {
            self.end(self.output_exceeded(id));
            return None;
        }
        self.in_flight.get_mut(&id)
    }

    fn outcome(&mut self, frame: WorkerFrame<'_>, now: Instant) {
        let Some(run) = frame.id.and_then(|id| self.take_ended(id)) else {
            return;
        };
        let outcome = frame.into_outcome().unwrap_or_else(|error| {
            let message = format!("the returned value cannot be read: {error}");
            Outcome::Threw {
                error: ComponentError {
                    name: "TypeError".into(),
                    message,
                    ..ComponentError::default()
                },
            }
        });
        run.send(RunMessage::Outcome(outcome));
        self.idle_since = now;
    }

    /// The run whose outcome has come, unless how it ends is decided already: its output went over the limit.
    fn take_ended(&mut self, id: u64) -> Option<Run> {
        let is_over = self.in_flight.get(&id)?.output_bytes > self.limits.output_bytes;
        if is_over {
            None
        } else {
            self.in_flight.remove(&id)
        }
    }

    fn output_exceeded(&self, run: u64) -> Ending {
        let message = format!(
            "the run put out more than {} bytes",
            self.limits.output_bytes
        );
        Ending::Limit {
            run,
            limit: Limit::Output,
            message,
        }
    }
}

#[cfg(test)]
mod tests;
