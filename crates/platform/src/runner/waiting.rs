//! The work that waits in the memory of one runner, counted by those who add it and by the runner that takes it.
//! Beyond a bound, work stays in the store until there is room.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::invocation::QueuedInvocation;

/// Work that may wait in memory.
pub(super) const WAITING_MAX: usize = 256;
/// Bytes of its events. The work that reaches it is the last, so that the largest event is taken, too.
const BYTES_MAX: usize = 16 << 20;

/// The amount of waiting work.
#[derive(Default)]
pub(super) struct Waiting {
    works: AtomicUsize,
    bytes: AtomicUsize,
}

impl Waiting {
    pub(super) fn add(&self, invocation: &QueuedInvocation) {
        self.works.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes(invocation), Ordering::Relaxed);
    }

    pub(super) fn take(&self, invocation: &QueuedInvocation) {
        self.works.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes(invocation), Ordering::Relaxed);
    }

    /// The number.
    pub(super) fn len(&self) -> usize {
        self.works.load(Ordering::Relaxed)
    }

    /// Bytes of events that there is room for; nothing when there is room for no more work.
    pub(super) fn room(&self) -> Option<usize> {
        let room = BYTES_MAX.saturating_sub(self.bytes.load(Ordering::Relaxed));
        (self.len() < WAITING_MAX && room > 0).then_some(room)
    }
}

fn bytes(invocation: &QueuedInvocation) -> usize {
    invocation.event.get().len()
}
