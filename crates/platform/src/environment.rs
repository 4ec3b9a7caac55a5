//! Time and randomness as the platform takes them in, so that tests hold them still.

use std::{sync::Arc, time::Duration};

use headwater_model::time::{EpochMs, EpochSeconds};

/// The wall clock.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since the epoch. May step back.
    fn now_ms(&self) -> EpochMs;

    /// The real duration of a span of its time: the same, unless the clock runs faster.
    fn lasting(&self, span: Duration) -> Duration {
        span
    }
}

/// A source of random bits, fit for secrets.
pub trait Random: Send + Sync + 'static {
    /// Fills the buffer.
    fn fill(&self, bytes: &mut [u8]);
}

/// The clock and the randomness of a node.
#[derive(Clone)]
pub struct Environment {
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Random bits.
    pub random: Arc<dyn Random>,
}

impl Environment {
    /// Milliseconds since the epoch.
    pub fn now_ms(&self) -> EpochMs {
        self.clock.now_ms()
    }

    /// Seconds since the epoch.
    pub fn now_at(&self) -> EpochSeconds {
        self.clock.now_ms().to_seconds()
    }

    /// The time to wait for a span of the clock's time to pass.
    pub(crate) fn lasting(&self, span: Duration) -> Duration {
        self.clock.lasting(span)
    }

    /// A new id from the clock and 128 random bits: `env.id(SourceId::new)`.
    pub fn id<T>(&self, new: impl FnOnce(EpochMs, u128) -> T) -> T {
        let mut bits = [0; 16];
        self.random.fill(&mut bits);
        new(self.now_ms(), u128::from_le_bytes(bits))
    }

    /// A random number from 0 to 1.
    pub(crate) fn chance(&self) -> f64 {
        let mut bits = [0; 4];
        self.random.fill(&mut bits);
        f64::from(u32::from_le_bytes(bits)) / f64::from(u32::MAX)
    }

    /// A number that tells ids derived from the same rows apart; never small, as positions of rows are.
    pub(crate) fn salt(&self) -> i64 {
        let mut bits = [0; 4];
        self.random.fill(&mut bits);
        i64::from(u32::from_le_bytes(bits)) | 1 << 39
    }

    /// 160 random bits as lower-case letters and digits, fit for a host name.
    pub fn token(&self) -> String {
        const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut bytes = [0; 32];
        self.random.fill(&mut bytes);
        bytes
            .iter()
            .map(|byte| char::from(DIGITS[usize::from(byte % 32)]))
            .collect()
    }
}
