//! The state of a run, and the things that happen to it.
//!
//! Each thing changes places; [`RunTree::advance`] then says what is to be done. [`RunTree::take_changes`] gives what has
//! to be written before any of it counts.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    sync::Arc,
};

use headwater_model::time::EpochMs;
use serde::{Deserialize, Serialize};

use super::{
    end::{FlowCall, StepEnd, StepOutcome},
    failure::Failure,
    items::Items,
    kept::Kept,
    order::{Order, Work},
    place::{Place, PlaceStatus, SUMMARY, WaitKind},
    resolution::Resolution,
    tries::{failed_try, pause},
};
use crate::{
    definition::{Definition, Node, Retry},
    path::Path,
};

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
    /// Answers to `wait` blocks that have not begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<(Path, Resolution)>,
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
    /// Places that wait.
    pub(super) waiting: BTreeSet<Path>,
    /// Places with an order that has not been answered.
    pub(super) at_work: BTreeSet<Path>,
    /// Items of loops that run.
    pub(super) items: HashMap<Path, Items>,
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
        let waiting = places
            .iter()
            .filter(|(_, place)| place.status == PlaceStatus::Waiting);
        let waiting = waiting.map(|(path, _)| path.clone()).collect();
        Self {
            definition,
            root,
            places,
            changed: BTreeSet::new(),
            waiting,
            at_work: BTreeSet::new(),
            items: HashMap::new(),
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

    /// The values of answers to `wait` blocks that have not begun, to move large ones to blobs.
    pub fn early_values_mut(&mut self) -> impl Iterator<Item = &mut Kept> {
        let early = self.root.early.iter_mut();
        early.filter_map(|(_, resolution)| resolution.value_mut())
    }

    /// The paths whose places have changed since the last call, to be written.
    pub fn take_changes(&mut self) -> BTreeSet<Path> {
        mem::take(&mut self.changed)
    }

    /// The earliest moment at which a wait ends by itself.
    pub fn next_due(&self) -> Option<EpochMs> {
        let places = self.waiting.iter().filter_map(|path| self.places.get(path));
        places.filter_map(Place::due).min()
    }

    /// An execution of a step's code ended.
    pub fn step_ended(&mut self, path: &Path, end: StepEnd, now_ms: EpochMs) {
        self.at_work.remove(path);
        let policy = self.retry_of(path);
        let Some(place) = self.running(path) else {
            return;
        };
        if place.failed_tries > 0 {
            // It spoke of the try before.
            place.exports.retain(|(name, _)| name != SUMMARY);
        }
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
        self.touched(path);
        self.apply_early(path, now_ms);
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
        let Some(place) = self.running(path) else {
            return;
        };
        match (called, waits) {
            (Ok(_), true) => place.wait(WaitKind::Call, None, now_ms),
            (Ok(run_id), false) => {
                let value = serde_json::json!({ "run_id": run_id });
                place.set_export("$return_value", Kept::of(&value));
                place.end(PlaceStatus::Succeeded, now_ms);
            }
            (Err(failure), _) => return self.fail(path, failure, now_ms),
        }
        self.touched(path);
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
        let mut place = Place::begun(self.root.begun, now_ms);
        let mut early = self.root.early.extract_if(.., |(of, _)| of == path);
        place.early = early.next().map(|(_, resolution)| resolution);
        drop(early);
        self.places.insert(path.clone(), place);
        self.touched(path);
    }

    /// Fails a place; nothing tries it again.
    pub(super) fn fail(&mut self, path: &Path, failure: Failure, now_ms: EpochMs) {
        if let Some(place) = self.places.get_mut(path) {
            place.failure = Some(failure);
            place.end(PlaceStatus::Failed, now_ms);
            self.touched(path);
        }
    }

    /// Ends a place in a final state.
    pub(super) fn end_place(&mut self, path: &Path, status: PlaceStatus, now_ms: EpochMs) {
        if let Some(place) = self.places.get_mut(path) {
            place.end(status, now_ms);
            self.touched(path);
        }
    }

    /// Cancels whatever waits at or below a path.
    pub(super) fn cancel_waits(&mut self, below: &Path, now_ms: EpochMs) {
        let waiting = self.waiting.range(below.clone()..);
        let waiting: Vec<Path> = waiting
            .take_while(|path| path.is_within(below))
            .cloned()
            .collect();
        for path in waiting {
            self.end_place(&path, PlaceStatus::Cancelled, now_ms);
        }
    }

    /// Cancels whatever has not ended at or below a path.
    pub(super) fn cancel_all(&mut self, below: &Path, now_ms: EpochMs) {
        let places = self.places.range(below.clone()..);
        let places = places.take_while(|(path, _)| path.is_within(below));
        let open = places.filter(|(_, place)| !place.status.is_final());
        let open: Vec<Path> = open.map(|(path, _)| path.clone()).collect();
        for path in open {
            self.end_place(&path, PlaceStatus::Cancelled, now_ms);
        }
    }

    /// Notes that a place has changed: it is to be written, and waits or no longer does.
    pub(super) fn touched(&mut self, path: &Path) {
        let place = self.places.get(path);
        match place.is_some_and(|place| place.status == PlaceStatus::Waiting) {
            true => self.waiting.insert(path.clone()),
            false => self.waiting.remove(path),
        };
        self.changed.insert(path.clone());
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

    /// The node that a place is of.
    pub fn node(&self, path: &Path) -> Option<&Node> {
        self.definition.node(path)
    }
}
