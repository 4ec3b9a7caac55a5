//! The results of runs, for the steps of other runs that wait for them.

use std::sync::Arc;

use headwater_workflow::{
    path::Path,
    run::{Blob, Exported, Kept, Resolution, RunEnd, State},
};
use serde_json::{Value, value::RawValue};

use super::{
    blob_texts::BlobTexts,
    endings::{Awaited, Endings, Wanted},
    live::LiveRun,
};
use crate::error::PlatformError;

/// A name that no step has: everything that has ended is before it.
const AFTER_ALL: &str = " ";

impl LiveRun {
    /// The results of this ended run that a step waits for, if nothing has been done for it yet.
    pub(super) fn owed_result(&self, endings: &Endings) -> Option<Wanted> {
        match (&self.standing, &self.awaited, &self.head.called_by) {
            (State::Ended(_), Awaited::Nobody, Some(_)) => Some(Wanted::Last),
            (State::Ended(_), Awaited::Nobody, None) => endings.wanted(self.id()),
            _ => None,
        }
    }

    /// Begins to read the result: the blobs that it is put together from. Those of other values may be damaged.
    pub(super) fn begin_reading(&mut self, wanted: Wanted) -> Vec<Blob> {
        self.awaited = Awaited::Reading(wanted);
        match self.result(wanted) {
            Ok(result) => result.blobs().into_iter().cloned().collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Puts the result together that is being read.
    pub(super) fn read_result(&mut self, texts: &BlobTexts) {
        let Awaited::Reading(wanted) = self.awaited else {
            return;
        };
        let unreadable = |error: PlatformError| format!("its result cannot be read: {error}");
        let result = self.result(wanted);
        let result = result.and_then(|result| written(&result, texts).map_err(unreadable));
        self.awaited = Awaited::Read(result);
    }

    /// The wanted results, or how the run ended instead.
    fn result(&self, wanted: Wanted) -> Result<Exported, String> {
        match &self.standing {
            State::Ended(RunEnd::Failed { failure, .. }) => Err(failure.error.titled()),
            State::Ended(RunEnd::Cancelled { reason }) => {
                Err(format!("the called run was cancelled: {reason}"))
            }
            State::Ended(RunEnd::Succeeded { .. }) | State::Running | State::Waiting(_) => {
                Ok(match wanted {
                    Wanted::Last => self.tree.result().unwrap_or(Exported::Json(Value::Null)),
                    Wanted::All => self.all_exports(),
                })
            }
        }
    }

    /// The answer to the step that called this run.
    pub(super) fn answer(&self) -> Resolution {
        match &self.awaited {
            Awaited::Read(Ok(last)) => Resolution::Returned(Kept::Here(Arc::from(last.clone()))),
            Awaited::Read(Err(reason)) => Resolution::Failed(reason.clone()),
            Awaited::Nobody | Awaited::Reading(_) => {
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
