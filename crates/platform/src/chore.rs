//! The chores of background work, and how each is told that there may be something to do.

use tokio::sync::{Notify, futures::Notified};

/// Says that there may be work. May be lost.
#[derive(Default)]
pub(crate) struct Nudges {
    by_chore: [Notify; Chore::ALL.len()],
}

impl Nudges {
    /// Lets the chore look again soon.
    pub(crate) fn nudge(&self, chore: Chore) {
        self.by_chore[chore as usize].notify_one();
        // Readers wait, too, for events that dispatch has to pass on.
        if chore == Chore::Dispatch {
            self.by_chore[Chore::Tail as usize].notify_one();
        }
    }

    /// Waits for the next nudge of the chore.
    pub(crate) fn nudged(&self, chore: Chore) -> Notified<'_> {
        self.by_chore[chore as usize].notified()
    }
}

/// A kind of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Timers that are due become invocations.
    Timers,
    /// Scheduled events that are due leave `$in`.
    Release,
    /// Dispatches events to subscribers.
    Dispatch,
    /// Feeds appended events to SSE readers.
    Tail,
    /// Deliveries to webhooks that are due and that nobody has: after a restart, or when a lease ran out.
    Deliveries,
    /// Deliveries to webhooks that are due again, each at its time.
    Retries,
    /// Deletions that were asked for, and events beyond retention.
    Retention,
    /// Invocations that nobody holds: after a restart, or when a lease ran out.
    Queue,
    /// Sends of workflows that are due.
    Sends,
    /// The last uses of keys.
    KeyUses,
    /// Records of data stores that have expired or were cleared.
    DataStores,
    /// Files that have expired, and uploads that nobody continues.
    Files,
    /// Changes of sources and deletions that failed half-way, or whose node died.
    Leftovers,
    /// Tells the store that the node lives.
    Heartbeat,
}

impl Chore {
    pub(crate) const ALL: [Self; 14] = [
        Self::Timers,
        Self::Release,
        Self::Dispatch,
        Self::Tail,
        Self::Deliveries,
        Self::Retries,
        Self::Retention,
        Self::Queue,
        Self::Sends,
        Self::KeyUses,
        Self::DataStores,
        Self::Files,
        Self::Leftovers,
        Self::Heartbeat,
    ];

    /// Its name in metrics and logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Timers => "timers",
            Self::Release => "release",
            Self::Dispatch => "dispatch",
            Self::Tail => "tail",
            Self::Deliveries => "deliveries",
            Self::Retries => "retries",
            Self::Retention => "retention",
            Self::Queue => "queue",
            Self::Sends => "sends",
            Self::KeyUses => "key_uses",
            Self::DataStores => "data_stores",
            Self::Files => "files",
            Self::Leftovers => "leftovers",
            Self::Heartbeat => "heartbeat",
        }
    }
}
