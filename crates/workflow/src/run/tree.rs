//! The state of a run, and the things that happen to it.
//!
//! Each thing changes places; [`RunTree::advance`] then says what is to be done. [`RunTree::take_changes`] gives what has
//! to be written before any of it counts.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    sync::Arc,
    time::Duration,
};

use headwater_model::time::EpochMs;
use serde::{Deserialize, Serialize};

use super::{
    end::{FlowCall, StepEnd, StepOutcome},
    failure::{Cause, Failure},
    kept::Kept,
    order::{Order, Work},
    place::{Place, PlaceStatus, Rerun, WaitKind},
    resolution::{Resolution, Resolved},
};
use crate::{
    definition::{Definition, Node, NodeKind, OnTimeout, Retry},
    path::Path,
};

/// Workers that may go away under a step before it counts as failed.
const LOSSES_MAX: u32 = 3;

/// A run that is on its way to its end, whatever still could run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// `$.flow.exit` or a block `end`.
    Exit {
        /// The place.
        at: Path,
        /// The reason given.
        reason: String,
    },
    /// Somebody or a timeout cancelled it.
    Cancel {
        /// The reason.
        reason: String,
    },
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Everything was done, or the run was ended by a step.
    Succeeded {
        /// The reason given to `$.flow.exit` or by a block `end`.
        reason: Option<String>,
    },
    /// A place failed.
    Failed {
        /// The place.
        at: Path,
        /// Its failure.
        failure: Failure,
    },
    /// It was cancelled.
    Cancelled {
        /// The reason.
        reason: String,
    },
}

/// The part of a run's state that belongs to no place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Places that have begun.
    pub begun: u64,
    /// Set once the run is to end early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Closing>,
    /// The failure that nobody handled; the workflow's `on_error` runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<(Path, Failure)>,
    /// The end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
}

/// The state of a run as a whole.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Something is at work.
    Running,
    /// Nothing is at work until that moment, or until a wait is resolved.
    Waiting(Option<EpochMs>),
    /// It has ended.
    Ended(RunEnd),
}

/// A run.
#[derive(Debug, Clone)]
pub struct RunTree {
    pub(super) definition: Arc<Definition>,
    pub(super) root: Root,
    pub(super) places: BTreeMap<Path, Place>,
    pub(super) changed: BTreeSet<Path>,
    /// Places with an order that has not been answered.
    pub(super) at_work: BTreeSet<Path>,
    /// For each loop, its items from the first that have ended.
    pub(super) ended_items: HashMap<Path, u32>,
    /// Calls whose arguments are known, to be ordered.
    pub(super) calls: Vec<Order>,
}

impl RunTree {
    /// A new run.
    pub fn new(definition: Arc<Definition>) -> Self {
        Self::load(definition, Root::default(), BTreeMap::new())
    }

    /// A run as it was written. Work that was in progress then will be ordered again.
    pub fn load(definition: Arc<Definition>, root: Root, places: BTreeMap<Path, Place>) -> Self {
        Self {
            definition,
            root,
            places,
            changed: BTreeSet::new(),
            at_work: BTreeSet::new(),
            ended_items: HashMap::new(),
            calls: Vec::new(),
        }
    }

    /// The definition that it follows.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// The part of its state that belongs to no place.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Its places by path.
    pub fn places(&self) -> &BTreeMap<Path, Place> {
        &self.places
    }

    /// The place at a path, to move large values to blobs.
    pub fn place_mut(&mut self, path: &Path) -> Option<&mut Place> {
        self.places.get_mut(path)
    }

    /// The paths whose places have changed since the last call, to be written.
    pub fn take_changes(&mut self) -> BTreeSet<Path> {
        mem::take(&mut self.changed)
    }

    /// The earliest moment at which a wait ends by itself.
    pub fn next_due(&self) -> Option<EpochMs> {
        let waits = self.places.values().filter_map(|place| place.wait.as_ref());
        waits.filter_map(|wait| wait.until_ms).min()
    }

    /// An execution of a step's code ended.
    pub fn step_ended(&mut self, path: &Path, end: StepEnd, now_ms: EpochMs) {
        self.at_work.remove(path);
        let policy = self.retry_of(path);
        let Some(place) = self.running(path) else {
            return;
        };
        for (name, value) in end.exports {
            place.set_export(&name, value);
        }
        match end.outcome {
            StepOutcome::Skipped => place.end(PlaceStatus::Skipped, now_ms),
            StepOutcome::Failed(failure) => {
                failed_try(place, failure, policy.as_ref(), (end.chance, now_ms));
            }
            StepOutcome::Returned(value) => {
                place.failure = None;
                place.losses = 0;
                if let Some(value) = value {
                    place.set_export("$return_value", value);
                }
                match (end.exit, FlowCall::strongest(end.flow)) {
                    (Some(reason), _) => {
                        place.end(PlaceStatus::Succeeded, now_ms);
                        self.close(Closing::Exit {
                            at: path.clone(),
                            reason,
                        });
                    }
                    (None, Some(call)) => pause(place, call, now_ms),
                    (None, None) => place.end(PlaceStatus::Succeeded, now_ms),
                }
            }
        }
        self.changed.insert(path.clone());
        self.apply_early(path, now_ms);
    }

    /// A resolution of a place's wait of that generation came in.
    pub fn resolve(
        &mut self,
        path: &Path,
        generation: u32,
        resolution: Resolution,
        now_ms: EpochMs,
    ) -> Resolved {
        let Some(place) = self.places.get_mut(path) else {
            return Resolved::Before;
        };
        if place.generation != generation || place.status.is_final() || place.early.is_some() {
            return Resolved::Before;
        }
        self.changed.insert(path.clone());
        if place.status == PlaceStatus::Running {
            place.early = Some(resolution);
            return Resolved::AtItsEnd;
        }
        self.apply(path, resolution, now_ms);
        Resolved::Now
    }

    /// Ends the waits that are over by then.
    pub fn wake(&mut self, now_ms: EpochMs) {
        let is_over = |place: &Place| {
            let until_ms = place.wait.as_ref().and_then(|wait| wait.until_ms);
            until_ms.is_some_and(|until_ms| until_ms <= now_ms)
        };
        let over = self.places.iter().filter(|(_, place)| is_over(place));
        let over: Vec<Path> = over.map(|(path, _)| path.clone()).collect();
        for path in over {
            self.time_out(&path, now_ms);
        }
    }

    /// The call of a place begins with the next commit, as a run with that id; or it cannot be made.
    pub fn called(
        &mut self,
        path: &Path,
        called: Result<&str, Failure>,
        waits: bool,
        now_ms: EpochMs,
    ) {
        self.at_work.remove(path);
        let run_id = match called {
            Ok(run_id) => run_id,
            Err(failure) => return self.fail(path, failure, now_ms),
        };
        if let Some(place) = self.running(path) {
            match waits {
                true => place.wait(WaitKind::Call, None),
                false => {
                    let value = serde_json::json!({ "run_id": run_id });
                    place.set_export("$return_value", Kept::of(&value));
                    place.end(PlaceStatus::Succeeded, now_ms);
                }
            }
            self.changed.insert(path.clone());
        }
    }

    /// Cancels the run, unless it has ended.
    pub fn cancel(&mut self, reason: &str) {
        if self.root.end.is_none() {
            let reason = reason.to_owned();
            self.root.closing = Some(Closing::Cancel { reason });
        }
    }

    /// Asks the run to end; the first reason counts, but for a cancellation.
    pub(super) fn close(&mut self, closing: Closing) {
        let is_cancel = matches!(closing, Closing::Cancel { .. });
        if self.root.closing.is_none() || is_cancel {
            self.root.closing = Some(closing);
        }
    }

    /// Begins a place.
    pub(super) fn begin(&mut self, path: &Path, now_ms: EpochMs) {
        self.root.begun += 1;
        let place = Place::begun(self.root.begun, now_ms);
        self.places.insert(path.clone(), place);
        self.changed.insert(path.clone());
    }

    /// Fails a place; nothing tries it again.
    pub(super) fn fail(&mut self, path: &Path, failure: Failure, now_ms: EpochMs) {
        if let Some(place) = self.places.get_mut(path) {
            place.failure = Some(failure);
            place.end(PlaceStatus::Failed, now_ms);
            self.changed.insert(path.clone());
        }
    }

    /// Ends a place in a final state.
    pub(super) fn end_place(&mut self, path: &Path, status: PlaceStatus, now_ms: EpochMs) {
        if let Some(place) = self.places.get_mut(path) {
            place.end(status, now_ms);
            self.changed.insert(path.clone());
        }
    }

    /// Cancels whatever waits at or below a path.
    pub(super) fn cancel_waits(&mut self, below: &Path, now_ms: EpochMs) {
        self.cancel_where(below, now_ms, |place| place.status == PlaceStatus::Waiting);
    }

    /// Cancels whatever has not ended at or below a path.
    pub(super) fn cancel_all(&mut self, below: &Path, now_ms: EpochMs) {
        self.cancel_where(below, now_ms, |place| !place.status.is_final());
    }

    fn cancel_where(&mut self, below: &Path, now_ms: EpochMs, is_meant: impl Fn(&Place) -> bool) {
        for (path, place) in &mut self.places {
            if path.is_within(below) && is_meant(place) {
                place.end(PlaceStatus::Cancelled, now_ms);
                self.changed.insert(path.clone());
            }
        }
    }

    /// Notes an order, unless the place has one.
    pub(super) fn order(&mut self, path: &Path, work: Work) -> Option<Order> {
        let is_new = self.at_work.insert(path.clone());
        is_new.then(|| Order {
            path: path.clone(),
            work,
        })
    }

    fn running(&mut self, path: &Path) -> Option<&mut Place> {
        let place = self.places.get_mut(path)?;
        (place.status == PlaceStatus::Running).then_some(place)
    }

    /// The step's own policy, or the workflow's.
    fn retry_of(&self, path: &Path) -> Option<Retry> {
        let node = self.definition.node(path)?;
        let workflow = &self.definition.settings.auto_retry;
        node.retry.clone().or_else(|| workflow.clone())
    }

    fn apply_early(&mut self, path: &Path, now_ms: EpochMs) {
        let Some(place) = self.places.get_mut(path) else {
            return;
        };
        if place.status == PlaceStatus::Waiting
            && let Some(resolution) = place.early.take()
        {
            self.apply(path, resolution, now_ms);
        }
    }

    fn apply(&mut self, path: &Path, resolution: Resolution, now_ms: EpochMs) {
        let Some(place) = self.places.get_mut(path) else {
            return;
        };
        let kind = place.wait.as_ref().map(|wait| wait.kind);
        place.generation += 1;
        match resolution {
            Resolution::Cancel => {
                place.end(PlaceStatus::Cancelled, now_ms);
                let reason = format!("{path}: cancelled through its URL");
                self.close(Closing::Cancel { reason });
            }
            Resolution::Resume(request) => match kind {
                Some(WaitKind::Rerun) => run_again(place, request),
                Some(WaitKind::Retry) => place.resume(),
                _ => {
                    if let Some(request) = request {
                        place.set_export("$resume_data", request);
                    }
                    place.end(PlaceStatus::Succeeded, now_ms);
                }
            },
            Resolution::Rerun(request) => match kind {
                Some(WaitKind::Retry) => place.resume(),
                _ => run_again(place, request),
            },
            Resolution::Returned(value) => {
                place.set_export("$return_value", value);
                place.end(PlaceStatus::Succeeded, now_ms);
            }
            Resolution::Failed(text) => {
                let failure = Failure::stated(Cause::Called, "CalledRunFailed", text);
                self.fail(path, failure, now_ms);
            }
        }
    }

    fn time_out(&mut self, path: &Path, now_ms: EpochMs) {
        let on_timeout = match self.definition.node(path).map(|node| &node.kind) {
            Some(NodeKind::Wait(wait)) => wait.on_timeout,
            _ => OnTimeout::Cancel,
        };
        let Some(place) = self.places.get_mut(path) else {
            return;
        };
        self.changed.insert(path.clone());
        let Some(wait) = &place.wait else { return };
        match (wait.kind, on_timeout) {
            (WaitKind::Delay, _) | (WaitKind::Wait, OnTimeout::Continue) => {
                place.end(PlaceStatus::Succeeded, now_ms);
            }
            (WaitKind::Rerun, _) => {
                // The same wait goes on in the next execution: its URLs may have been handed out already.
                let generation = place.generation;
                run_again(place, None);
                place.generation = generation;
            }
            (WaitKind::Retry, _) => place.resume(),
            (WaitKind::Wait, OnTimeout::Fail) => {
                let text = format!("nobody answered `{path}` in time; its `on_timeout` is `fail`");
                let failure = Failure::stated(Cause::WaitTimedOut, "WaitTimedOut", text);
                self.fail(path, failure, now_ms);
            }
            (WaitKind::Suspend | WaitKind::Wait | WaitKind::Call, _) => {
                place.end(PlaceStatus::Cancelled, now_ms);
                let reason = format!("{path}: nobody resumed it in time");
                self.close(Closing::Cancel { reason });
            }
        }
    }

    /// The node that a place is of.
    pub fn node(&self, path: &Path) -> Option<&Node> {
        self.definition.node(path)
    }
}

/// Lets a step run again, as `$.flow.rerun` asked for.
fn run_again(place: &mut Place, request: Option<Kept>) {
    let rerun = place.rerun.get_or_insert(Rerun {
        runs: 1,
        context: None,
        callback_request: None,
    });
    rerun.runs += 1;
    rerun.callback_request = request;
    place.resume();
}

/// Pauses a step at its end.
fn pause(place: &mut Place, call: FlowCall, now_ms: EpochMs) {
    match call {
        FlowCall::Delay(span) => place.wait(WaitKind::Delay, Some(now_ms + span)),
        FlowCall::Suspend(span) => place.wait(WaitKind::Suspend, Some(now_ms + span)),
        FlowCall::Rerun {
            after,
            context,
            max_retries,
        } => {
            let runs = place.rerun.as_ref().map_or(1, |rerun| rerun.runs);
            if runs > max_retries {
                return place.end(PlaceStatus::Succeeded, now_ms);
            }
            place.rerun = Some(Rerun {
                runs,
                context,
                callback_request: None,
            });
            place.wait(WaitKind::Rerun, Some(now_ms + after));
        }
    }
}

/// Counts a failed try: another one follows, or the place has failed.
fn failed_try(
    place: &mut Place,
    failure: Failure,
    policy: Option<&Retry>,
    (chance, now_ms): (f64, EpochMs),
) {
    if failure.cause == Cause::WorkerLost && place.losses < LOSSES_MAX {
        place.losses += 1;
        return;
    }
    place.losses = 0;
    place.failed_tries += 1;
    let kind = failure.cause.kind();
    place.failure = Some(failure);
    let is_meant = |retry: &&Retry| {
        let is_on = kind.is_some_and(|kind| retry.on.contains(&kind));
        is_on && place.failed_tries < retry.attempts
    };
    match policy.filter(is_meant) {
        Some(retry) => {
            let pause = pause_before(retry, place.failed_tries, chance);
            place.wait(WaitKind::Retry, Some(now_ms + pause));
        }
        None => place.end(PlaceStatus::Failed, now_ms),
    }
}

/// The pause before the next try: exponential, bounded, and with jitter between half of it and all of it.
fn pause_before(retry: &Retry, failed_tries: u32, chance: f64) -> Duration {
    let exponent = i32::try_from(failed_tries.saturating_sub(1)).unwrap_or(i32::MAX);
    let seconds = retry.initial.as_secs_f64() * retry.factor.powi(exponent);
    let bounded = seconds.min(retry.max.as_secs_f64());
    let spread = match retry.jitter {
        true => 0.5 + chance.clamp(0.0, 1.0) / 2.0,
        false => 1.0,
    };
    Duration::try_from_secs_f64(bounded * spread).unwrap_or(retry.max)
}
