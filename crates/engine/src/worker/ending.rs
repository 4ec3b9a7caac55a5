//! Causes of workers' ends, and the resulting outcomes of their runs.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

use headwater_model::outcome::{ComponentError, Limit, Outcome};
use rustix::process::Signal;

use crate::{api::EngineError, confine::FAILED};

/// Messages of V8 and Deno when they run out of memory.
const OUT_OF_MEMORY: &[&str] = &[
    "heap out of memory",
    "Fatal JavaScript out of memory",
    "Fatal process out of memory",
    "memory allocation of ",
];
/// The beginnings of V8's messages about its own end.
const V8_FATAL_MESSAGES: &[&str] = &["<--- Last few GCs --->", "# Fatal "];

/// The reason why a worker takes no more runs and has to end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    /// A run went over a limit that costs the process.
    Limit {
        run: u64,
        limit: Limit,
        message: String,
    },
    /// The process exceeds a worker's limits, and the responsible run cannot be determined.
    Excess { limit: Limit, message: String },
    /// The worker violates the protocol, or its output can no longer be read.
    Protocol(String),
    /// The pool no longer wants it.
    Dismissed,
}

/// The facts known of a process that has ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Exit {
    /// Its code or signal; `None` when that could not be found out.
    pub(super) status: Option<ExitStatus>,
    /// The end of its standard error.
    pub(super) stderr: String,
}

/// The end of the run `id`, alone in flight or not, with a process that ended so. One run's limit or
/// failure is its own; a possible fault of another is only a loss, which callers may try again.
pub(super) fn outcome_of_loss(
    ending: Option<&Ending>,
    id: u64,
    is_alone: bool,
    exit: &Exit,
) -> Outcome {
    let lost = |message: String| Outcome::Lost { message };
    let limit = |limit: Limit, message: String| Outcome::LimitExceeded { limit, message };
    match ending {
        Some(Ending::Limit {
            run,
            limit: exceeded,
            message,
        }) if *run == id => limit(*exceeded, message.clone()),
        Some(Ending::Limit { message, .. }) => lost(format!(
            "another run ended the worker that they share: {message}"
        )),
        Some(Ending::Excess {
            limit: exceeded,
            message,
        }) if is_alone => limit(*exceeded, message.clone()),
        Some(Ending::Excess { message, .. }) => lost(message.clone()),
        Some(Ending::Protocol(reason)) => lost(format!("the worker was ended: {reason}")),
        Some(Ending::Dismissed) => lost("the worker was ended by the platform".into()),
        None if !is_alone => lost(format!("the worker {}", exit.describe())),
        None if exit.was_killed() => lost(format!(
            "the worker {} from outside, as the kernel does when the machine has no memory left",
            exit.describe()
        )),
        None if exit.ran_out_of_memory() => limit(
            Limit::Memory,
            "the component needs more heap than a worker has".into(),
        ),
        None if exit.overfilled_a_file() => limit(
            Limit::Output,
            "the component wrote a larger file to /tmp than it may".into(),
        ),
        None => Outcome::Threw {
            error: exit.as_error(),
        },
    }
}

/// Whether the text is V8's report of its own end, as opposed to the component's output.
pub(super) fn is_v8_fatal(text: &str) -> bool {
    V8_FATAL_MESSAGES
        .iter()
        .any(|message| text.contains(message))
}

impl Exit {
    /// Its exit code or signal.
    pub(super) fn describe(&self) -> String {
        match self.status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => format!("exited with code {code}"),
            Some((None, Some(signal))) => format!("was ended by signal {signal}"),
            Some((None, None)) | None => "ended".to_owned(),
        }
    }

    /// The failure of a process that ended before it was ready. A launcher reports the step that failed.
    pub(super) fn as_failed_start(&self) -> EngineError {
        let code = self.status.and_then(|status| status.code());
        match code == Some(FAILED.into()) {
            true => EngineError::Spawn(self.stderr.trim().to_owned()),
            false => {
                let told = self.stderr.trim();
                if !told.is_empty() {
                    tracing::warn!(told, "a worker ended before it was ready");
                }
                EngineError::WorkerLost(format!("it {} before it was ready", self.describe()))
            }
        }
    }

    /// Whether the process ended because it ran out of memory.
    fn ran_out_of_memory(&self) -> bool {
        OUT_OF_MEMORY
            .iter()
            .any(|message| self.stderr.contains(message))
    }

    /// Whether the kernel ended it for a file beyond the limit.
    fn overfilled_a_file(&self) -> bool {
        let signal = self.status.and_then(|status| status.signal());
        signal == Some(Signal::XFSZ.as_raw())
    }

    /// Whether it was ended by a signal that neither the node nor a component can have sent: the machine may have run
    /// out of memory because of another process.
    fn was_killed(&self) -> bool {
        let signal = self.status.and_then(|status| status.signal());
        signal == Some(Signal::KILL.as_raw())
    }

    fn as_error(&self) -> ComponentError {
        let stderr = self.stderr.trim();
        let stderr = if stderr.is_empty() {
            String::new()
        } else {
            format!(": {stderr}")
        };
        ComponentError {
            name: "WorkerExited".to_owned(),
            message: format!("the component's process {}{stderr}", self.describe()),
            ..ComponentError::default()
        }
    }
}
