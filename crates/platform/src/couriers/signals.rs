//! The word that reaches a courier: that there may be deliveries, and that its webhook has changed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::sync::Notify;

use crate::actor::Resident;

/// Shared by a courier and whoever has word for it; smaller than a channel, as there may be many thousands.
#[derive(Default)]
pub(super) struct Signals {
    is_nudged: AtomicBool,
    nudge: Notify,
    changes: AtomicU64,
}

impl Signals {
    /// Whether a nudge waits to be taken.
    pub(super) fn is_nudged(&self) -> bool {
        self.is_nudged.load(Ordering::Acquire)
    }

    /// Takes the nudge that waits, if one does.
    pub(super) fn take_nudge(&self) -> bool {
        self.is_nudged.swap(false, Ordering::AcqRel)
    }

    /// Waits until there may be a nudge to take.
    pub(super) async fn nudged(&self) {
        self.nudge.notified().await;
    }

    /// The number of changes of the webhook so far: a courier that knows fewer reads it again.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Counts a change of the webhook.
    pub(super) fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }
}

/// The way to a courier.
pub(super) struct Courier(Arc<Signals>);

impl Courier {
    /// The way to the courier that listens to these.
    pub(super) fn new(signals: &Arc<Signals>) -> Self {
        Self(Arc::clone(signals))
    }

    /// Says that there may be deliveries.
    pub(super) fn nudge(&self) {
        self.0.is_nudged.store(true, Ordering::Release);
        self.0.nudge.notify_one();
    }

    /// Says that its webhook was changed.
    pub(super) fn note_change(&self) {
        self.0.note_change();
        self.nudge();
    }
}

impl Resident for Courier {
    /// As long as the courier holds its end.
    fn is_alive(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_nudge_waits_until_it_is_taken() {
        let signals = Arc::<Signals>::default();
        let courier = Courier::new(&signals);
        assert!(signals.nudged().now_or_never().is_none());
        courier.nudge();
        courier.nudge();
        assert!(signals.is_nudged() && signals.nudged().now_or_never().is_some());
        assert!(signals.take_nudge() && !signals.take_nudge() && !signals.is_nudged());
    }

    #[test]
    fn a_change_is_counted_and_nudges() {
        let signals = Arc::<Signals>::default();
        Courier::new(&signals).note_change();
        assert_eq!((signals.changes(), signals.take_nudge()), (1, true));
    }

    #[test]
    fn a_courier_that_is_gone_is_not_alive() {
        let signals = Arc::<Signals>::default();
        let courier = Courier::new(&signals);
        assert!(courier.is_alive());
        drop(signals);
        assert!(!courier.is_alive());
    }
}
