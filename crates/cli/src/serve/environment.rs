//! The real clock and the real randomness: the only place that asks the system for them.

use std::{
    cell::RefCell,
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

/// Bytes that a thread asks the system for at once: each request needs some, and asking is slow.
const AT_ONCE: usize = 1024;

struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        thread_local! {
            static LEFT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        LEFT.with_borrow_mut(|left| {
            if left.len() < bytes.len() {
                left.resize(AT_ONCE.max(bytes.len()), 0);
                getrandom::fill(left)
                    .expect("a system without random bits cannot make ids or keys");
            }
            let kept = left.len() - bytes.len();
            bytes.copy_from_slice(&left[kept..]);
            // No byte is used twice, and none of a key stays behind.
            left[kept..].fill(0);
            left.truncate(kept);
        });
    }
}

/// The system's clock and randomness.
pub(super) fn system() -> Environment {
    Environment {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    }
}
