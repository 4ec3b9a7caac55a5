//! The clock of a test: it stands still until nothing can be done any more, and then moves to the next moment at which
//! something can.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use headwater_model::time::EpochMs;
use headwater_platform::{Clock, Random};

pub(super) struct TestClock {
    began_ms: EpochMs,
    now_ms: AtomicU64,
}

impl TestClock {
    /// A clock that begins at a moment, or else now.
    pub(super) fn at(began_ms: Option<EpochMs>) -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began_ms = began_ms.unwrap_or(EpochMs::default() + since_epoch);
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

/// The system's randomness.
pub(super) struct SystemRandom;

impl Random for SystemRandom {
    #[allow(clippy::expect_used, reason = "a system without randomness cannot run a test")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system has random bytes");
    }
}
