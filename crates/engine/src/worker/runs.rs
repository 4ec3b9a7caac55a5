//! The runs in flight of one worker: what each may still use, and how each ends.
//!
//! Responsible for: turning the worker's frames into messages of runs, counting what runs use, and
//! exactly one outcome per run, last. Does no I/O: [`Runs::ending`] tells when the process has to go.

use std::{collections::BTreeMap, time::Duration};

use headwater_model::{
    limits::RunLimits,
    outcome::{ComponentError, Limit, Outcome},
};
use tokio::time::Instant;

use super::protocol::{Kind, WorkerFrame};
use crate::api::{Entry, Invocation, LogLevel, RunId, RunMessage, RunSink};

/// The runtime cuts logs at the limit and then says so; the host's own count only backs it up.
const LOG_SLACK_BYTES: usize = 4 * 1024;

/// Why a worker takes no more runs and has to go.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    /// A run went over a limit that costs the process.
    Limit {
        run: u64,
        limit: Limit,
        message: String,
    },
    /// The process holds more memory than a worker may.
    Memory { message: String },
    /// The component's module cannot be evaluated.
    LoadFailed(ComponentError),
    /// The worker says what the protocol does not know, or can no longer be heard.
    Protocol(String),
    /// The pool no longer wants it.
    Dismissed,
}

/// What is known of a process that has ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Exit {
    /// Its exit code or signal, in words.
    pub(super) status: String,
    /// The last of what it wrote to standard error.
    pub(super) stderr: String,
}

struct Run {
    name: RunId,
    sink: RunSink,
    wall: Duration,
    deadline: Instant,
    output_bytes: usize,
    log_bytes: usize,
    /// Log text that names no run, charged to this one.
    stray_bytes: usize,
    has_responded: bool,
}

/// The table of runs.
pub(super) struct Runs {
    limits: RunLimits,
    last_id: u64,
    in_flight: BTreeMap<u64, Run>,
    ending: Option<Ending>,
    idle_since: Instant,
    /// When the deadlines are looked at next; `None` when only a call can cause that.
    next_look: Option<Instant>,
}

impl Run {
    fn send(&self, message: RunMessage) {
        // A caller that is gone has nothing to be told.
        let _ = self.sink.send((self.name, message));
    }
}

impl Runs {
    pub(super) fn new(limits: RunLimits, now: Instant) -> Self {
        Self {
            limits,
            last_id: 0,
            in_flight: BTreeMap::new(),
            ending: None,
            idle_since: now,
            next_look: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }

    pub(super) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Since when there has been no run; `None` while there is one.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.in_flight.is_empty().then_some(self.idle_since)
    }

    /// Decides that the worker has to go; the first reason stays.
    pub(super) fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
    }

    /// Adds a run and says how the worker is to call it, and whether deadlines have to be looked at
    /// earlier than they would be. `None` when this worker takes no more runs.
    pub(super) fn add(
        &mut self,
        invocation: &Invocation,
        sink: &RunSink,
        now: Instant,
    ) -> Option<(u64, bool)> {
        if self.ending.is_some() {
            return None;
        }
        let wall = match invocation.entry {
            Entry::Hook { .. } => self.limits.hook_wall,
            Entry::Run | Entry::Options { .. } | Entry::AdditionalProps => self.limits.run_wall,
        };
        self.last_id += 1;
        let deadline = now + wall;
        let run = Run {
            name: invocation.run,
            sink: sink.clone(),
            wall,
            deadline,
            output_bytes: 0,
            log_bytes: 0,
            stray_bytes: 0,
            has_responded: false,
        };
        self.in_flight.insert(self.last_id, run);
        let is_earlier = self.next_look.is_none_or(|look| deadline < look);
        Some((self.last_id, is_earlier))
    }

    /// Takes a run back that was never sent.
    pub(super) fn forget(&mut self, id: u64) {
        self.in_flight.remove(&id);
    }

    /// Ends the worker if a deadline has passed, else says when to look again.
    pub(super) fn look_at_deadlines(&mut self, now: Instant) -> Option<Instant> {
        let earliest = self.in_flight.iter().min_by_key(|(_, run)| run.deadline);
        let earliest = earliest.map(|(&id, run)| (id, run.deadline, run.wall));
        if let Some((run, deadline, wall)) = earliest
            && deadline <= now
        {
            let message = format!("the run took longer than {} s", wall.as_secs_f64());
            self.end(Ending::Limit {
                run,
                limit: Limit::Wall,
                message,
            });
        }
        self.next_look = earliest
            .map(|(_, deadline, _)| deadline)
            .filter(|_| self.ending.is_none());
        self.next_look
    }

    /// What a frame of a run, or of none, says.
    pub(super) fn frame(&mut self, frame: WorkerFrame<'_>, bytes: usize, now: Instant) {
        match frame.kind {
            Kind::Log => self.log(frame),
            Kind::Emit | Kind::Respond | Kind::Kv => self.output(frame, bytes),
            Kind::Outcome => self.outcome(frame, now),
            Kind::LoadFailed => self.end(Ending::LoadFailed(frame.error.unwrap_or_default())),
            Kind::Ready | Kind::Loaded | Kind::Described | Kind::DescribeFailed => {}
        }
    }

    /// Bytes on standard output that are not a frame.
    pub(super) fn noise(&mut self, bytes: &[u8]) {
        let wanted = self
            .in_flight
            .values()
            .next()
            .is_some_and(|run| run.stray_bytes <= self.limits.log_bytes);
        if wanted {
            // No more than can be kept is worth making text of.
            let shown = &bytes[..bytes.len().min(self.limits.log_bytes)];
            let text = String::from_utf8_lossy(shown).trim_end().to_owned();
            self.stray_log(LogLevel::Info, text, bytes.len());
        }
    }

    /// A frame of `run` is larger than everything it may put out.
    pub(super) fn too_large(&mut self, run: Option<u64>) {
        let only = || {
            self.in_flight
                .keys()
                .next()
                .copied()
                .filter(|_| self.in_flight.len() == 1)
        };
        match run.or_else(only) {
            Some(run) => self.end(self.output_exceeded(run)),
            None => self.end(Ending::Protocol(
                "it sent a frame larger than any may be".into(),
            )),
        }
    }

    /// Ends the runs that are left when the process has gone.
    pub(super) fn process_gone(&mut self, exit: &Exit) {
        let runs = std::mem::take(&mut self.in_flight);
        let is_alone = runs.len() == 1;
        for (id, run) in runs {
            run.send(RunMessage::Outcome(
                self.outcome_of_loss(id, is_alone, exit),
            ));
        }
        self.end(Ending::Dismissed);
    }

    fn outcome_of_loss(&self, id: u64, is_alone: bool, exit: &Exit) -> Outcome {
        let lost = |message: &str| Outcome::Lost {
            message: message.to_owned(),
        };
        let memory = |message: &str| match is_alone {
            true => Outcome::LimitExceeded {
                limit: Limit::Memory,
                message: message.to_owned(),
            },
            false => lost(message),
        };
        match &self.ending {
            Some(Ending::Limit {
                run,
                limit,
                message,
            }) if *run == id => Outcome::LimitExceeded {
                limit: *limit,
                message: message.clone(),
            },
            Some(Ending::Limit { message, .. }) => lost(&format!(
                "another run of the source ended the worker: {message}"
            )),
            Some(Ending::Memory { message }) => memory(message),
            Some(Ending::LoadFailed(error)) => Outcome::Threw {
                error: error.clone(),
            },
            Some(Ending::Protocol(reason)) => lost(&format!("the worker was ended: {reason}")),
            Some(Ending::Dismissed) => lost("the worker was ended by the platform"),
            None if exit.ran_out_of_memory() => memory(&format!(
                "the component needs more than {} MiB of memory",
                self.limits.heap_mib
            )),
            None if is_alone => Outcome::Threw {
                error: exit.as_error(),
            },
            None => lost(&format!("the worker {}", exit.status)),
        }
    }

    fn log(&mut self, frame: WorkerFrame<'_>) {
        let id = frame.id;
        let (level, text) = frame.into_log();
        let Some(run) = id.and_then(|id| self.in_flight.get_mut(&id)) else {
            let bytes = text.len();
            return self.stray_log(level, text, bytes);
        };
        run.log_bytes += text.len();
        if run.log_bytes <= self.limits.log_bytes + LOG_SLACK_BYTES {
            run.send(RunMessage::Log { level, text });
        }
    }

    /// Log text that names no run goes to the longest in flight: it is the same source's anyway.
    fn stray_log(&mut self, level: LogLevel, text: String, bytes: usize) {
        let limit = self.limits.log_bytes;
        let Some(run) = self.in_flight.values_mut().next() else {
            tracing::debug!(bytes, "a worker without runs logs");
            return;
        };
        let before = run.stray_bytes;
        run.stray_bytes += bytes.max(1);
        if run.stray_bytes <= limit {
            run.send(RunMessage::Log { level, text });
        } else if before <= limit {
            let text =
                format!("output outside of runs goes over {limit} bytes; the rest is not kept");
            run.send(RunMessage::Log {
                level: LogLevel::Warn,
                text,
            });
        }
    }

    fn output(&mut self, frame: WorkerFrame<'_>, bytes: usize) {
        let Some((id, run)) = frame
            .id
            .and_then(|id| Some((id, self.in_flight.get_mut(&id)?)))
        else {
            return;
        };
        run.output_bytes += bytes;
        if run.output_bytes > self.limits.output_bytes {
            return self.end(self.output_exceeded(id));
        }
        match frame.kind {
            Kind::Emit => run.send(RunMessage::Emit(frame.into_emit())),
            Kind::Kv => run.send(RunMessage::KvChanged(frame.into_kv_change())),
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

    fn outcome(&mut self, frame: WorkerFrame<'_>, now: Instant) {
        let Some(run) = frame.id.and_then(|id| self.in_flight.remove(&id)) else {
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

impl Exit {
    /// Whether V8 ended the process because its heap was full.
    fn ran_out_of_memory(&self) -> bool {
        self.stderr.contains("heap out of memory")
            || self.stderr.contains("Fatal JavaScript out of memory")
    }

    fn as_error(&self) -> ComponentError {
        let said = self.stderr.trim();
        let said = if said.is_empty() {
            String::new()
        } else {
            format!(": {said}")
        };
        ComponentError {
            name: "WorkerExited".to_owned(),
            message: format!("the component's process {}{said}", self.status),
            ..ComponentError::default()
        }
    }
}
