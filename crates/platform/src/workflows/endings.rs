//! Ends of runs that steps of other runs wait for.

use std::collections::HashMap;

use headwater_model::id::InvocationId;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

/// The end of a run that a step waits for.
#[derive(Debug)]
pub(crate) struct RunResult {
    /// The exports of its last step, or why there are none.
    pub(crate) last: Result<Box<RawValue>, String>,
    /// The exports of all its steps, by namespace.
    pub(crate) all: Box<RawValue>,
}

/// The result of a run that a step of another run waits for. It is put together before the commit of the end: no other
/// run can read this one's blobs, and after it they may be gone.
#[derive(Debug, Default)]
pub(super) enum Awaited {
    /// Nobody has asked for it.
    #[default]
    Nobody,
    /// The blobs of its large values are being read.
    Reading,
    /// The result.
    Read(RunResult),
}

/// The steps that wait for the ends of runs.
#[derive(Default)]
pub(crate) struct Endings {
    by_run: Mutex<HashMap<InvocationId, oneshot::Sender<RunResult>>>,
}

impl Endings {
    pub(super) fn expect(&self, run: &InvocationId) -> oneshot::Receiver<RunResult> {
        let (sender, receiver) = oneshot::channel();
        self.by_run.lock().insert(run.clone(), sender);
        receiver
    }

    /// Whether somebody waits for a run.
    pub(super) fn are_expected(&self, run: &InvocationId) -> bool {
        self.by_run.lock().contains_key(run)
    }

    /// Tells the step that waits for a run.
    pub(super) fn tell(&self, run: &InvocationId, result: RunResult) {
        if let Some(waiting) = self.by_run.lock().remove(run) {
            let _ = waiting.send(result);
        }
    }
}
