//! A place: one step, block or handler of a run that has begun.

use headwater_model::time::EpochMs;
use serde::{Deserialize, Serialize};

use super::{
    failure::Failure,
    kept::{Blob, Kept},
    resolution::Resolution,
};

/// The export with a line about what the step did.
pub(super) const SUMMARY: &str = "$summary";
/// The export about a try that failed.
const ATTEMPT: &str = "$attempt";
/// Executions and waits of a place that are kept.
pub const PHASES_MAX: usize = 50;

/// Numbers of sends that nodes of former versions kept for each execution of a step.
const FORMER_SENDS: u32 = 10_000;

/// Workers that may go away under a step before it counts as failed.
pub(super) const LOSSES_MAX: u32 = 3;

/// The state of a place. The last four are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceStatus {
    /// Its code runs or is to run, or steps inside of it do.
    Running,
    /// It waits for a moment, a call of its URLs or another run.
    Waiting,
    /// It ended as it should.
    Succeeded,
    /// It failed, whatever was done about it.
    Failed,
    /// Its condition did not hold.
    Skipped,
    /// The run or the block around it ended before it did.
    Cancelled,
}

impl PlaceStatus {
    /// Whether nothing more happens at the place itself.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::Waiting)
    }
}

/// The kind of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// `$.flow.delay`, or a block `delay`.
    Delay,
    /// `$.flow.suspend`.
    Suspend,
    /// `$.flow.rerun`.
    Rerun,
    /// The pause before another try.
    Retry,
    /// A block `wait`.
    Wait,
    /// A block `call`, until the other run has ended.
    Call,
}

/// The wait of a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Its kind.
    pub kind: WaitKind,
    /// Its end without an answer; `None` for a call, which ends with the other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<EpochMs>,
}

/// A part of a place's life: one execution, or one wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The kind of the wait; `None` for an execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<WaitKind>,
    /// When it began, epoch milliseconds.
    pub started_at_ms: EpochMs,
    /// When it ended, epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<EpochMs>,
}

/// The choice that a block's expressions decided; made once, and never asked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The condition of the block holds; nothing else is decided yet.
    Admitted,
    /// The branch or case to take, or none of them.
    Branch(Option<u32>),
    /// For each branch of a `parallel`, whether it is taken.
    Branches(Vec<bool>),
    /// The number of items of a loop.
    Items(u32),
    /// The round of a `while` loop that runs.
    Round(u32),
    /// The number of rounds that a `while` loop had.
    Rounds(u32),
}

/// The state that `$.flow.rerun` carries from one execution of a step to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rerun {
    /// The number of executions, from 1.
    pub runs: u32,
    /// The `context` that the step gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Kept>,
    /// The request that ended the wait early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_request: Option<Kept>,
}

/// A step, block or handler that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Its state.
    pub status: PlaceStatus,
    /// Its number in the order in which the run's places began.
    pub position: u64,
    /// Tries that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_tries: u32,
    /// Workers that went away under it since its last try.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub losses: u32,
    /// The number of its wait: resolving a wait moves it on, so that an old URL cannot resolve a later wait.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u32,
    /// The choice of a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// The items of a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Kept>,
    /// The wait, while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// A resolution that came while the step still ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<Resolution>,
    /// The state of `$.flow.rerun`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Rerun>,
    /// The number of the next thing that it sends: each of a run has a number of its own, whichever execution sends it.
    /// None before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next_send: Option<u32>,
    /// The values that later steps see, by name; `$return_value` is one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<(String, Kept)>,
    /// Its last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// When it began, epoch milliseconds.
    pub started_at_ms: EpochMs,
    /// When it ended, epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<EpochMs>,
    /// The newest of its executions and waits; none if it was executed once and did not wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) phases: Vec<Phase>,
}

impl Place {
    pub(super) fn begun(position: u64, now_ms: EpochMs) -> Self {
        Self {
            status: PlaceStatus::Running,
            position,
            failed_tries: 0,
            losses: 0,
            generation: 0,
            chosen: None,
            items: None,
            wait: None,
            early: None,
            rerun: None,
            next_send: None,
            exports: Vec::new(),
            failure: None,
            started_at_ms: now_ms,
            ended_at_ms: None,
            phases: Vec::new(),
        }
    }

    /// Its executions and waits, one after the other: the newest [`PHASES_MAX`].
    pub fn phases(&self) -> Vec<Phase> {
        match self.phases.is_empty() {
            true => vec![self.first_phase(self.ended_at_ms)],
            false => self.phases.clone(),
        }
    }

    fn first_phase(&self, ended_at_ms: Option<EpochMs>) -> Phase {
        Phase {
            wait: None,
            started_at_ms: self.started_at_ms,
            ended_at_ms,
        }
    }

    /// Ends the phase that it is in, and begins the next one.
    fn turn(&mut self, wait: Option<WaitKind>, now_ms: EpochMs) {
        match self.phases.last_mut() {
            Some(last) => last.ended_at_ms = Some(now_ms),
            None => self.phases.push(self.first_phase(Some(now_ms))),
        }
        self.phases.push(Phase {
            wait,
            started_at_ms: now_ms,
            ended_at_ms: None,
        });
        if self.phases.len() > PHASES_MAX {
            self.phases.remove(0);
        }
    }

    /// The value under a name.
    pub fn export(&self, name: &str) -> Option<&Kept> {
        let mut found = self.exports.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value)
    }

    /// When its wait ends by itself.
    pub(super) fn due(&self) -> Option<EpochMs> {
        self.wait.as_ref()?.until_ms
    }

    /// Exports what is known of the try that failed: `$summary` and `$attempt`. The next try and later steps see them.
    pub fn export_attempt(&mut self, summary: &str, attempt: &serde_json::Value) {
        self.set_export(SUMMARY, Kept::of(&serde_json::Value::from(summary)));
        self.set_export(ATTEMPT, Kept::of(attempt));
    }

    /// The `$attempt` of the try before, if one failed.
    pub fn attempt(&self) -> Option<&Kept> {
        self.export(ATTEMPT).filter(|_| self.failed_tries > 0)
    }

    /// Sets a value; the last of a name counts.
    pub(super) fn set_export(&mut self, name: &str, value: Kept) {
        match self.exports.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.exports.push((name.to_owned(), value)),
        }
    }

    /// Ends it in a final state.
    pub(super) fn end(&mut self, status: PlaceStatus, now_ms: EpochMs) {
        self.status = status;
        self.wait = None;
        self.early = None;
        self.ended_at_ms = Some(now_ms);
        if let Some(last) = self.phases.last_mut() {
            last.ended_at_ms = Some(now_ms);
        }
    }

    /// Has the next loss of its worker count as a failed try, because nodes were lost under it before.
    pub fn forgive_no_loss(&mut self) {
        self.losses = LOSSES_MAX;
    }

    /// Whether it failed, and is to be tried again.
    pub fn awaits_retry(&self) -> bool {
        let wait = self.wait.as_ref();
        wait.is_some_and(|wait| wait.kind == WaitKind::Retry)
    }

    /// How often its code has run, with the execution that runs or is due.
    pub fn executions(&self) -> u32 {
        // No other one follows the last try that failed.
        let ended = u32::from(self.status == PlaceStatus::Failed);
        let retries = self.failed_tries.saturating_sub(ended);
        self.rerun.as_ref().map_or(1, |rerun| rerun.runs) + retries
    }

    /// The number of the next thing that it sends.
    pub fn next_send(&self) -> u32 {
        let by_former = |rerun: &Rerun| rerun.runs.saturating_sub(1).saturating_mul(FORMER_SENDS);
        let former = || self.rerun.as_ref().map_or(0, by_former);
        self.next_send.unwrap_or_else(former)
    }

    /// Notes that so many more of its numbers belong to sends: those of an execution that has ended.
    pub fn note_sent(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if count > 0 {
            self.next_send = Some(self.next_send().saturating_add(count));
        }
    }

    /// Lets it wait.
    pub(super) fn wait(&mut self, kind: WaitKind, until_ms: Option<EpochMs>, now_ms: EpochMs) {
        self.turn(Some(kind), now_ms);
        self.status = PlaceStatus::Waiting;
        self.wait = Some(Wait { kind, until_ms });
    }

    /// Lets its code run again.
    pub(super) fn resume(&mut self, now_ms: EpochMs) {
        self.turn(None, now_ms);
        self.status = PlaceStatus::Running;
        self.wait = None;
    }

    /// The blobs that its values are in.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let exports = self.exports.iter().map(|(_, value)| value);
        let rerun = self.rerun.iter().flat_map(|rerun| {
            let context = rerun.context.iter();
            context.chain(rerun.callback_request.iter())
        });
        let early = self.early.as_ref().and_then(Resolution::value);
        let values = exports.chain(self.items.iter()).chain(rerun).chain(early);
        values.filter_map(|value| match value {
            Kept::Blob(blob) => Some(blob),
            Kept::Here(_) => None,
        })
    }

    /// The values of all kinds that it keeps, for their sizes and for moving the large ones to blobs.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Kept> {
        let exports = self.exports.iter_mut().map(|(_, value)| value);
        let rerun = self.rerun.iter_mut().flat_map(|rerun| {
            let context = rerun.context.iter_mut();
            context.chain(rerun.callback_request.iter_mut())
        });
        let early = self.early.as_mut().and_then(Resolution::value_mut);
        exports
            .chain(self.items.iter_mut())
            .chain(rerun)
            .chain(early)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_things_an_execution_sends_the_next_one_has_other_numbers() {
        let mut place = Place::begun(0, EpochMs(0));
        assert_eq!(place.next_send(), 0);
        place.note_sent(0);
        place.note_sent(10_005);
        place.rerun = Some(Rerun {
            runs: 2,
            context: None,
            callback_request: None,
        });
        assert_eq!(place.next_send(), 10_005);
        place.note_sent(1);
        assert_eq!(place.next_send(), 10_006);
    }

    #[test]
    fn what_was_sent_before_its_numbers_were_noted_keeps_them() {
        let by_former = r#"{"status":"running","position":0,"started_at_ms":0,"rerun":{"runs":3}}"#;
        let mut place: Place = serde_json::from_str(by_former).unwrap();
        assert_eq!(place.next_send(), 20_000);
        place.note_sent(2);
        assert_eq!(place.next_send(), 20_002);
    }
}
