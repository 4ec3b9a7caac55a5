//! The components of one worker: the host's entry for each, from its load to its end.
//!
//! Responsible for numbers, for which components take runs, and for the order of each one's writes. Not for their runs
//! (`runs.rs`), nor for which components share a worker (`pool/sharing.rs`).

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::protocol::ComponentNumber;

#[derive(Default)]
struct Component {
    /// The worker has been told to load it.
    is_told: bool,
    /// Cancelled once its module has been evaluated.
    loaded: CancellationToken,
    has_failed: bool,
    /// The place of its last write among all of them.
    last_seq: u64,
}

/// The entries, by number.
#[derive(Default)]
pub(super) struct Components {
    last: Option<ComponentNumber>,
    by_number: BTreeMap<ComponentNumber, Component>,
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

    /// The worker has been told to load the component.
    pub(super) fn load_sent(&mut self, number: ComponentNumber) {
        if let Some(component) = self.by_number.get_mut(&number) {
            component.is_told = true;
        }
    }

    /// Tells whether the component may be given runs.
    pub(super) fn takes_runs(&self, number: ComponentNumber) -> bool {
        self.by_number
            .get(&number)
            .is_some_and(|component| !component.has_failed)
    }

    /// Tells whether everything that the process does is the first component's doing: there never was another.
    pub(super) fn is_only_the_first(&self) -> bool {
        self.last.is_none_or(|last| last == ComponentNumber::FIRST)
    }

    /// The component's module has been evaluated.
    pub(super) fn loaded(&self, number: ComponentNumber) {
        if let Some(component) = self.by_number.get(&number) {
            component.loaded.cancel();
        }
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

    /// Drops an entry, and says whether the worker knows the component.
    pub(super) fn remove(&mut self, number: ComponentNumber) -> bool {
        let removed = self.by_number.remove(&number);
        removed.is_some_and(|component| component.is_told)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    /// Takes note of a write, and says whether it is behind all earlier ones of its component.
    pub(super) fn has_written(&mut self, number: ComponentNumber, seq: u64) -> bool {
        let Some(component) = self.by_number.get_mut(&number) else {
            return false;
        };
        let is_next = seq > component.last_seq;
        component.last_seq = seq;
        is_next
    }
}
