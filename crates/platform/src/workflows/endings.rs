//! Ends of runs that steps of other runs wait for.

use std::{collections::HashMap, sync::Arc};

use headwater_model::id::InvocationId;
use headwater_workflow::{
    path::Path,
    run::{Blob, Exported, Kept, Resolution, RunEnd, State},
};
use parking_lot::Mutex;
use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;

use super::{blob_texts::BlobTexts, live::LiveRun};
use crate::error::PlatformError;

/// A name that no step has: everything that has ended is before it.
const AFTER_ALL: &str = " ";

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

impl LiveRun {
    /// Whether a step waits for the result of this ended run, and nothing has been done for it yet.
    pub(super) fn owes_result(&self, endings: &Endings) -> bool {
        let is_awaited = self.head.called_by.is_some() || endings.are_expected(self.id());
        is_awaited
            && matches!(self.standing, State::Ended(_))
            && matches!(self.awaited, Awaited::Nobody)
    }

    /// The blobs that the result is put together from.
    pub(super) fn result_blobs(&self) -> Vec<Blob> {
        let all = self.all_exports();
        all.blobs().into_iter().cloned().collect()
    }

    /// Puts the result together.
    pub(super) fn read_result(&mut self, texts: &BlobTexts) {
        let unreadable = |error: PlatformError| format!("its result cannot be read: {error}");
        let last = match &self.standing {
            State::Ended(RunEnd::Failed { failure, .. }) => Err(failure.error.titled()),
            State::Ended(RunEnd::Cancelled { reason }) => {
                Err(format!("the called run was cancelled: {reason}"))
            }
            State::Ended(RunEnd::Succeeded { .. }) | State::Running | State::Waiting(_) => {
                match self.tree.result() {
                    Some(result) => written(&result, texts).map_err(unreadable),
                    None => Ok(RawValue::NULL.to_owned()),
                }
            }
        };
        let (last, all) = match written(&self.all_exports(), texts) {
            Ok(all) => (last, all),
            Err(error) => (
                last.and_then(|_| Err(unreadable(error))),
                RawValue::NULL.to_owned(),
            ),
        };
        self.awaited = Awaited::Read(RunResult { last, all });
    }

    /// The answer to the step that called this run.
    pub(super) fn answer(&self) -> Resolution {
        match &self.awaited {
            Awaited::Read(RunResult { last: Ok(last), .. }) => {
                Resolution::Returned(Kept::Here(Arc::from(last.clone())))
            }
            Awaited::Read(RunResult {
                last: Err(reason), ..
            }) => Resolution::Failed(reason.clone()),
            Awaited::Nobody | Awaited::Reading => {
                Resolution::Failed("the called run has no result".to_owned())
            }
        }
    }

    fn all_exports(&self) -> Exported {
        let mut exports = self.tree.scope(&Path::root().join(AFTER_ALL));
        exports.push(("$context".to_owned(), Exported::Json(Value::Null)));
        Exported::Object(exports)
    }
}

/// A result as JSON.
fn written(result: &Exported, texts: &BlobTexts) -> Result<Box<RawValue>, PlatformError> {
    let mut text = String::new();
    result.write(&mut text, &|blob| texts.get(blob))?;
    RawValue::from_string(text).map_err(|error| PlatformError::Internal(error.to_string()))
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
