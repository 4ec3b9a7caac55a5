//! The commit of a run's progress: places, effects, and what becomes of its invocation.

use headwater_model::{channel::Channel, event::NewEvent, outcome::Limit, time::EpochMs};
use headwater_store::{
    AfterRun, Dropped, EndedRun, InvocationEnd, PlaceWrite, RunBlob, RunCommit, RunFacts,
    RunOutcome, RunProgress, RunVersion, RunnableLease, WaitResolution,
};
use headwater_workflow::{
    definition::Stored,
    path::Path,
    run::{Blob, Cause, Failure, Kept, Place, RunEnd, State},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use sha2::{Digest, Sha256};

use super::{
    head::Head,
    input,
    live::{Committing, LiveRun},
};
use crate::{log_line::LogLine, platform_event::platform_event};

/// A value of more bytes is a blob beside its place.
const INLINE_MAX: u64 = 256 * 1024;
/// The latest moment that a store keeps: of a run that waits for an answer alone.
const NEVER: EpochMs = EpochMs(i64::MAX as u64);

/// A place with its log, as it is written.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    place: &'a Place,
    #[serde(skip_serializing_if = "<[LogLine]>::is_empty")]
    logs: &'a [LogLine],
}

/// The details of a run that has ended, kept with its record.
#[derive(Serialize)]
struct Details<'a> {
    head: &'a Head,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a RawValue>,
    via: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    hops: u32,
}

/// The details of a run that has ended, as far as they are read again.
#[derive(Debug, Deserialize)]
pub(crate) struct RunDetails {
    pub(crate) head: Head,
    /// The event, unless only the record of the run is kept.
    #[serde(default, deserialize_with = "present")]
    pub(crate) event: Option<Box<RawValue>>,
    /// The reason that it ended for.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// A member that is there, `null` too.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Deserialize::deserialize(value).map(Some)
}

impl RunDetails {
    /// The details, if they can be read.
    pub(crate) fn read(text: &RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok()
    }
}

impl LiveRun {
    /// The commit of everything since the last one.
    pub(super) fn commit(&mut self, lease: &RunnableLease, now_ms: EpochMs) -> RunCommit {
        let mut progress = RunProgress::default();
        for value in self.tree.early_values_mut() {
            progress.blobs.extend(offloaded(value));
        }
        self.head.root = self.tree.root().clone();
        self.write_places(&mut progress);
        let end = match &self.standing {
            State::Ended(end) => Some(end.clone()),
            State::Running | State::Waiting(_) => None,
        };
        if let Some(end) = &end {
            self.tell_of_the_end(end, &mut progress);
            if self.is_forgotten(end) {
                progress.is_forgotten = true;
                progress.places.clear();
                progress.blobs.clear();
                self.pending.blobs.clear();
            }
        }
        let pending = std::mem::take(&mut self.pending);
        self.head.emitted += u32::try_from(pending.events.len()).unwrap_or(u32::MAX);
        progress.blobs.extend(pending.blobs);
        progress.sends = pending.sends;
        progress.calls = pending.calls;
        progress.applied = pending.applied;
        let state = to_raw_value(&self.head).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let then = match &self.standing {
            State::Ended(_) => AfterRun::Ended,
            State::Running => AfterRun::GoesOn { state },
            State::Waiting(until_ms) => AfterRun::Checkpoint {
                state,
                due_at_ms: until_ms.unwrap_or(NEVER),
            },
        };
        self.is_dirty = false;
        self.committing = Some(match &then {
            AfterRun::Ended => Committing::Ends,
            AfterRun::GoesOn { .. } => Committing::GoesOn,
            AfterRun::Checkpoint { .. } => Committing::Rests,
        });
        RunCommit {
            lease: lease.clone(),
            run_id: self.id().clone(),
            invocation: Some(InvocationEnd {
                lease: self.claimed.lease.clone(),
                then,
            }),
            events: pending.events,
            dedupe: None,
            kv_writes: pending.kv_writes,
            usage: pending.usage,
            ended: end.map(|end| self.record(&end, now_ms)),
            progress: Some(progress),
            unrecorded: 0,
            now_ms,
        }
    }

    /// The commit of a run that never began: nothing of it is left.
    pub(super) fn commit_of_none(&mut self, lease: &RunnableLease, now_ms: EpochMs) -> RunCommit {
        self.is_dirty = false;
        self.committing = Some(Committing::Ends);
        RunCommit {
            lease: lease.clone(),
            run_id: self.id().clone(),
            invocation: Some(InvocationEnd {
                lease: self.claimed.lease.clone(),
                then: AfterRun::Ended,
            }),
            events: Vec::new(),
            dedupe: None,
            kv_writes: Vec::new(),
            usage: std::mem::take(&mut self.pending.usage),
            ended: None,
            progress: None,
            unrecorded: 0,
            now_ms,
        }
    }

    /// Whether only the record of the run is kept after this end.
    fn is_forgotten(&self, end: &RunEnd) -> bool {
        self.head.is_forgotten
            || match self.deployed.definition.settings.retention.stored {
                Stored::All => false,
                Stored::Errors => matches!(end, RunEnd::Succeeded { .. }),
                Stored::None => true,
            }
    }

    fn write_places(&mut self, progress: &mut RunProgress) {
        for path in self.tree.take_changes() {
            let Some(place) = self.tree.place_mut(&path) else {
                continue;
            };
            for value in place.values_mut() {
                progress.blobs.extend(offloaded(value));
            }
            let place = &self.tree.places()[&path];
            let logs = self.logs.of(&path);
            let written = Written { place, logs };
            if let Ok(body) = to_raw_value(&written) {
                progress.places.push(PlaceWrite {
                    path: path.to_string(),
                    body,
                });
            }
            if place.status.is_final() {
                self.logs.forget(&path);
            }
        }
    }

    /// The consequences of the end for others: `$errors`, the caller, the record.
    fn tell_of_the_end(&mut self, end: &RunEnd, progress: &mut RunProgress) {
        if let RunEnd::Failed { at, failure } = end
            && !self.head.is_test
        {
            let error = self.error_event(at, failure, self.is_forgotten(end));
            self.pending.events.push(error);
        }
        if let Some(called_by) = &self.head.called_by {
            progress
                .resolves
                .extend(
                    to_raw_value(&self.answer())
                        .ok()
                        .map(|resolution| WaitResolution {
                            wait: called_by.wait(),
                            resolution,
                        }),
                );
        }
        let reason = match end {
            RunEnd::Succeeded { reason } => reason.as_deref(),
            RunEnd::Cancelled { reason } => Some(reason.as_str()),
            RunEnd::Failed { .. } => None,
        };
        let record_head = self.head.of_record();
        let (head, event) = match self.is_forgotten(end) {
            true => (&record_head, None),
            false => (&self.head, Some(&*self.claimed.event)),
        };
        let details = Details {
            head,
            event,
            via: self.claimed.via.as_deref(),
            reason,
            hops: self.claimed.hops,
        };
        progress.details = to_raw_value(&details).ok();
    }

    /// The event on `$errors`, without the run's own event if that is forgotten.
    pub(super) fn error_event(&self, at: &Path, failure: &Failure, is_forgotten: bool) -> NewEvent {
        let original_event = Some(&self.claimed.event).filter(|_| !is_forgotten);
        let event = json!({
            "original_event": original_event,
            "original_context": input::trigger_context(self),
            "error": input::error(self, at, failure),
        });
        platform_event(
            Channel::errors(),
            &event,
            &failure.error.line(),
            self.claimed.hops,
        )
    }

    fn record(&self, end: &RunEnd, now_ms: EpochMs) -> EndedRun {
        let (outcome, error) = match end {
            RunEnd::Succeeded { .. } => (RunOutcome::Returned, None),
            RunEnd::Cancelled { reason } => (RunOutcome::Cancelled, Some(reason.clone())),
            RunEnd::Failed { failure, .. } => {
                let outcome = match failure.cause {
                    Cause::Timeout => RunOutcome::LimitExceeded(Limit::Wall),
                    Cause::OutOfMemory => RunOutcome::LimitExceeded(Limit::Memory),
                    Cause::TooMuchOutput => RunOutcome::LimitExceeded(Limit::Output),
                    Cause::WorkerLost => RunOutcome::Lost,
                    Cause::Thrown | Cause::Configuration | Cause::WaitTimedOut | Cause::Called => {
                        RunOutcome::Threw
                    }
                };
                (outcome, Some(failure.error.titled()))
            }
        };
        EndedRun {
            version: RunVersion::Deployment(self.deployed.id.clone()),
            trigger: self.claimed.trigger.into(),
            replay_of: self.head.replay_of(),
            queued_at_ms: self.claimed.queued_at_ms,
            started_at_ms: self.head.started_at_ms.unwrap_or(self.started_at_ms),
            ended_at_ms: now_ms,
            outcome,
            error,
            emitted: self.head.emitted,
            dropped: Dropped::default(),
            has_scheduled: false,
            origin: self.claimed.origin.clone(),
            facts: RunFacts::default(),
        }
    }
}

/// Moves a large value to a blob.
fn offloaded(value: &mut Kept) -> Option<RunBlob> {
    let Kept::Here(text) = value else { return None };
    let bytes = text.get().len() as u64;
    if bytes <= INLINE_MAX {
        return None;
    }
    let hash = hex::encode(Sha256::digest(text.get().as_bytes()));
    let blob = RunBlob {
        hash: hash.clone(),
        bytes: bytes::Bytes::copy_from_slice(text.get().as_bytes()),
    };
    *value = Kept::Blob(Blob { hash, bytes });
    Some(blob)
}
