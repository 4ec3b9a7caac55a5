//! The real clock and the real randomness: the only place that asks the system for them.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use headwater_app::{Clock, Environment, Random};

struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
    }
}

struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("a system without random bits cannot make ids or keys");
    }
}

/// The system's clock and randomness.
pub(super) fn system() -> Environment {
    Environment {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    }
}
