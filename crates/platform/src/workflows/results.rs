//! The results of runs, for the steps of other runs that wait for them.

use std::sync::Arc;

use headwater_workflow::{
    path::Path,
    run::{Blob, Exported, Kept, Resolution, RunEnd, State},
};
use serde_json::{Value, value::RawValue};

use super::{
    blob_texts::BlobTexts,
    endings::{Awaited, Endings, RunResult},
    live::LiveRun,
};
use crate::error::PlatformError;

/// A name that no step has: everything that has ended is before it.
const AFTER_ALL: &str = " ";

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
