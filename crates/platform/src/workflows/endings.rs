//! Ends of runs that steps of other runs wait for.

use std::collections::HashMap;

use headwater_model::id::InvocationId;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

/// The part of a run's results that a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The exports of its last step.
    Last,
    /// The exports of all its steps, by namespace.
    All,
}

/// The wanted results of a run that has ended, or why there are none.
pub(super) type RunResult = Result<Box<RawValue>, String>;

/// The result of a run that a step of another run waits for. It is put together before the commit of the end: no other
/// run can read this one's blobs, and after it they may be gone.
#[derive(Debug, Default)]
pub(super) enum Awaited {
    /// Nobody has asked for it.
    #[default]
    Nobody,
    /// The blobs of its large values are being read.
    Reading(Wanted),
    /// The result.
    Read(RunResult),
}

/// The steps that wait for the ends of runs.
#[derive(Default)]
pub(crate) struct Endings {
    by_run: Mutex<HashMap<InvocationId, (Wanted, oneshot::Sender<RunResult>)>>,
}

impl Endings {
    pub(super) fn expect(
        &self,
        run: &InvocationId,
        wanted: Wanted,
    ) -> oneshot::Receiver<RunResult> {
        let (sender, receiver) = oneshot::channel();
        self.by_run.lock().insert(run.clone(), (wanted, sender));
        receiver
    }

    /// The results that somebody waits for, if anybody does.
    pub(super) fn wanted(&self, run: &InvocationId) -> Option<Wanted> {
        self.by_run.lock().get(run).map(|(wanted, _)| *wanted)
    }

    /// Tells the step that waits for a run.
    pub(super) fn tell(&self, run: &InvocationId, result: RunResult) {
        if let Some((_, waiting)) = self.by_run.lock().remove(run) {
            let _ = waiting.send(result);
        }
    }
}
