//! The real clock and the real randomness: the only place that asks the system for them.

use std::{
    cell::RefCell,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Result;
use headwater_model::time::EpochMs;
use headwater_platform::{Clock, Environment, Random};

use crate::usage_error::UsageError;

struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> EpochMs {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        EpochMs::default() + since_epoch
    }
}

/// `SPEED@SINCE_MS`, for soaks only: see CONTRIBUTING.md.
pub(super) const TEST_CLOCK: &str = "HEADWATER_TEST_CLOCK";

/// A clock that has run faster than time since a moment, the same for every start of a node.
struct FastClock {
    speed: u32,
    since_ms: EpochMs,
}

impl Clock for FastClock {
    fn now_ms(&self) -> EpochMs {
        let passed = SystemClock.now_ms().since(self.since_ms);
        self.since_ms + passed * self.speed
    }

    fn lasting(&self, span: Duration) -> Duration {
        span / self.speed
    }
}

impl FastClock {
    fn parse(text: &str) -> Option<Self> {
        let (speed, since_ms) = text.split_once('@')?;
        let speed = speed.parse().ok().filter(|speed| *speed > 0)?;
        let since_ms = EpochMs(since_ms.parse().ok()?);
        Some(Self { speed, since_ms })
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
                    .expect("the system gives no random bytes, which ids and keys need");
            }
            let kept = left.len() - bytes.len();
            bytes.copy_from_slice(&left[kept..]);
            // No byte is used twice, and none of a key stays behind.
            left[kept..].fill(0);
            left.truncate(kept);
        });
    }
}

/// The system's clock and randomness; the clock of a soak where one is asked for.
pub(crate) fn system() -> Result<Environment> {
    Ok(Environment {
        clock: clock(std::env::var(TEST_CLOCK).ok().as_deref())?,
        random: Arc::new(SystemRandom),
    })
}

/// Whether a soak holds the clock.
pub(super) fn is_of_a_test() -> bool {
    std::env::var_os(TEST_CLOCK).is_some()
}

fn clock(asked: Option<&str>) -> Result<Arc<dyn Clock>> {
    let Some(asked) = asked else {
        return Ok(Arc::new(SystemClock));
    };
    let wrong = || UsageError(format!("{TEST_CLOCK}: `{asked}` is not SPEED@SINCE_MS"));
    let clock = FastClock::parse(asked).ok_or_else(wrong)?;
    tracing::warn!(
        "the clock runs {} times as fast as real time ({TEST_CLOCK}): discard all data of this node after the test",
        clock.speed
    );
    Ok(Arc::new(clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_goes_on_where_a_former_start_left_it() {
        let since_ms = SystemClock.now_ms().minus(Duration::from_secs(60));
        let text = format!("10@{since_ms}");
        let clock = clock(Some(&text)).unwrap();
        let ahead_ms = clock.now_ms().since(SystemClock.now_ms()).as_millis();
        assert!((540_000..600_000).contains(&ahead_ms), "{ahead_ms}");
        let span = Duration::from_secs(60);
        assert_eq!(clock.lasting(span), Duration::from_secs(6));
    }

    #[test]
    fn a_clock_that_cannot_be_read_is_refused_and_without_one_time_is_time() {
        for wrong in ["", "10", "0@1", "-1@1", "fast@1", "10@now"] {
            assert!(clock(Some(wrong)).is_err(), "{wrong}");
        }
        let span = Duration::from_secs(60);
        assert_eq!(clock(None).unwrap().lasting(span), span);
    }
}
