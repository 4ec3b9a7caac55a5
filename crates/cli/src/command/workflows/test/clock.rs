//! The clock of a test: it stands still until nothing can be done any more, and then moves to the next moment at which
//! something can.

use std::sync::atomic::{AtomicU64, Ordering};

use headwater_model::time::EpochMs;
use headwater_platform::Clock;

pub(super) struct TestClock {
    began_ms: EpochMs,
    now_ms: AtomicU64,
}

impl TestClock {
    pub(super) fn at(began_ms: EpochMs) -> Self {
        Self {
            began_ms,
            now_ms: AtomicU64::new(began_ms.0),
        }
    }

    pub(super) fn began_ms(&self) -> EpochMs {
        self.began_ms
    }

    /// Moves on to a moment, never back.
    pub(super) fn move_to(&self, moment_ms: EpochMs) {
        self.now_ms.fetch_max(moment_ms.0, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> EpochMs {
        EpochMs(self.now_ms.load(Ordering::SeqCst))
    }
}
