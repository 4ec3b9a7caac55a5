//! The components of one worker: the host's entry for each, from its load to its end.
//!
//! Responsible for numbers, for which components take runs, and for the order of each one's writes. Not for their runs
//! (`runs.rs`), nor for the sharing of workers (`pool/sharing.rs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use super::protocol::ComponentNumber;

/// The time in which a module may be evaluated without blame for those whose runs wait meanwhile.
const EVALUATED_WITHIN: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Component {
    /// The time at which its load frame was sent to the worker, if it was.
    load_sent: Option<Instant>,
    /// Cancelled once its module has been evaluated.
    loaded: CancellationToken,
    has_failed: bool,
    /// Its runs. Closed when it takes no more.
    runs: TaskTracker,
    /// The place of its last write among all of them.
    last_seq: u64,
}

/// The part that a component had in harm to its worker: an end over a limit, or a time in which nobody could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// It had a run, as others had.
    MayHaveCaused,
    /// It was the only one with a run, or is known to be the cause.
    Caused,
}

/// The entries, by number.
#[derive(Default)]
pub(super) struct Components {
    last: Option<ComponentNumber>,
    by_number: BTreeMap<ComponentNumber, Component>,
    /// Of those that are gone too.
    troubles: BTreeMap<ComponentNumber, Trouble>,
}

impl Components {
    /// An entry for one more component.
    pub(super) fn add(&mut self) -> ComponentNumber {
        let number = self
            .last
            .map_or(ComponentNumber::FIRST, ComponentNumber::next);
        self.last = Some(number);
        self.by_number.insert(number, Component::default());
        number
    }

    /// Records that the component's load frame was sent.
    pub(super) fn load_sent(&mut self, number: ComponentNumber, now: Instant) {
        if let Some(component) = self.by_number.get_mut(&number) {
            component.load_sent = Some(now);
        }
    }

    /// The place of one more run of the component, which the run keeps; `None` when it may not be given one.
    pub(super) fn run(&self, number: ComponentNumber) -> Option<TaskTrackerToken> {
        let component = self.by_number.get(&number)?;
        let takes_runs = !component.has_failed && !component.runs.is_closed();
        takes_runs.then(|| component.runs.token())
    }

    /// Has the component take no more runs.
    pub(super) fn close(&mut self, number: ComponentNumber) {
        if let Some(component) = self.by_number.get(&number) {
            component.runs.close();
        }
    }

    /// The runs of a component that takes no more, to be waited for.
    pub(super) fn last_runs(&self, number: ComponentNumber) -> Option<TaskTracker> {
        let component = self.by_number.get(&number)?;
        let is_closed = component.runs.is_closed();
        is_closed.then(|| component.runs.clone())
    }

    /// Whether the process has only ever had the first component.
    pub(super) fn is_only_the_first(&self) -> bool {
        self.last.is_none_or(|last| last == ComponentNumber::FIRST)
    }

    /// The component's module has been evaluated.
    pub(super) fn loaded(&self, number: ComponentNumber) {
        if let Some(component) = self.by_number.get(&number) {
            component.loaded.cancel();
        }
    }

    /// Whether the module of one is being evaluated, and has not been for too long.
    pub(super) fn is_any_loading(&self, now: Instant) -> bool {
        let mut components = self.by_number.values();
        components.any(|component| {
            let is_new = |sent| now.saturating_duration_since(sent) < EVALUATED_WITHIN;
            let is_evaluated = component.has_failed || component.loaded.is_cancelled();
            component.load_sent.is_some_and(is_new) && !is_evaluated
        })
    }

    /// Cancelled once the component's module has been evaluated; `None` for one that is not there.
    pub(super) fn loading(&self, number: ComponentNumber) -> Option<CancellationToken> {
        let component = self.by_number.get(&number)?;
        Some(component.loaded.clone())
    }

    /// The component's module cannot be evaluated. Says whether any other is left.
    pub(super) fn failed(&mut self, number: ComponentNumber) -> bool {
        if let Some(component) = self.by_number.get_mut(&number) {
            component.has_failed = true;
        }
        self.by_number
            .values()
            .any(|component| !component.has_failed)
    }

    /// Records harm to the worker by one of these: those that had runs.
    pub(super) fn harmed_by(&mut self, numbers: &BTreeSet<ComponentNumber>) {
        let trouble = match numbers.len() {
            1 => Trouble::Caused,
            _ => Trouble::MayHaveCaused,
        };
        for number in numbers {
            let known = self.troubles.entry(*number).or_insert(trouble);
            *known = trouble.max(*known);
        }
    }

    /// The component's part in harm to the worker, if it may have had one.
    pub(super) fn trouble(&self, number: ComponentNumber) -> Option<Trouble> {
        self.troubles.get(&number).copied()
    }

    /// The number of components.
    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Drops an entry, and returns whether its load frame was sent.
    pub(super) fn remove(&mut self, number: ComponentNumber) -> bool {
        let removed = self.by_number.remove(&number);
        removed.is_some_and(|component| component.load_sent.is_some())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    /// Records a write, and returns whether it follows all earlier ones of its component.
    pub(super) fn has_written(&mut self, number: ComponentNumber, seq: u64) -> bool {
        let Some(component) = self.by_number.get_mut(&number) else {
            return false;
        };
        let is_next = seq > component.last_seq;
        component.last_seq = seq;
        is_next
    }
}
