//! Time and randomness for this crate's unit tests.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use headwater_model::time::EpochMs;

use crate::environment::{Clock, Environment, Random};

struct StillClock;

impl Clock for StillClock {
    fn now_ms(&self) -> EpochMs {
        EpochMs(1_700_000_000_000)
    }
}

#[derive(Default)]
struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self
                .0
                .fetch_add(1, Ordering::Relaxed)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&next.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A clock that stands still and bits that never repeat.
pub(crate) fn environment() -> Environment {
    Environment {
        clock: Arc::new(StillClock),
        random: Arc::new(Counting::default()),
    }
}
