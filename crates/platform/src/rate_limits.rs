//! The requests per second of a key, if the node limits them: a bucket per key that holds one second's
//! worth and fills evenly.

use std::{collections::HashMap, num::NonZeroU32, time::Duration};

use headwater_model::{id::KeyId, time::EpochMs};
use parking_lot::Mutex;

use crate::error::PlatformError;

/// Buckets kept before those that are full, and so say nothing, are dropped.
const KEPT: usize = 10_000;

/// The buckets.
pub(crate) struct RateLimits {
    per_second: Option<NonZeroU32>,
    by_key: Mutex<HashMap<KeyId, Bucket>>,
}

struct Bucket {
    /// Requests that may be sent at once, in fractions.
    level: f64,
    /// As of when, epoch milliseconds.
    at_ms: EpochMs,
}

impl RateLimits {
    pub(crate) fn new(per_second: Option<NonZeroU32>) -> Self {
        Self {
            per_second,
            by_key: Mutex::default(),
        }
    }

    /// Lets one request of the key through.
    ///
    /// # Errors
    /// `RateLimited` when it comes too soon.
    pub(crate) fn take(&self, key: &KeyId, now_ms: EpochMs) -> Result<(), PlatformError> {
        let Some(per_second) = self.per_second else {
            return Ok(());
        };
        let rate = f64::from(per_second.get());
        let mut by_key = self.by_key.lock();
        if by_key.len() >= KEPT && !by_key.contains_key(key) {
            // An empty one is full after a second.
            by_key.retain(|_, bucket| now_ms.abs_diff(bucket.at_ms) < Duration::from_secs(1));
        }
        let bucket = by_key.entry(key.clone()).or_insert(Bucket {
            level: rate,
            at_ms: now_ms,
        });
        let elapsed = now_ms.since(bucket.at_ms).min(Duration::from_secs(1));
        let filled = bucket.level + rate * elapsed.as_secs_f64();
        bucket.level = filled.min(rate);
        // Also if the clock stepped back: the bucket fills from then on.
        bucket.at_ms = now_ms;
        if bucket.level < 1.0 {
            // The next request is less than a second away, and `Retry-After` has whole seconds.
            return Err(PlatformError::RateLimited {
                per_second: per_second.get(),
                retry_after_s: 1,
            });
        }
        bucket.level -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: EpochMs = EpochMs(1_700_000_000_000);

    fn key(number: u128) -> KeyId {
        KeyId::new(EpochMs(0), number << 64)
    }

    /// The number of ten requests that pass at that time.
    fn passed(limits: &RateLimits, key: &KeyId, now_ms: EpochMs) -> usize {
        (0..10).filter(|_| limits.take(key, now_ms).is_ok()).count()
    }

    #[test]
    fn a_second_of_requests_passes_at_once_and_then_at_the_rate() {
        let limits = RateLimits::new(NonZeroU32::new(4));
        let (one, two) = (key(1), key(2));
        assert_eq!(passed(&limits, &one, T0), 4);
        assert_eq!(passed(&limits, &one, T0), 0);
        assert_eq!(passed(&limits, &two, T0), 4);
        assert_eq!(passed(&limits, &one, T0 + Duration::from_millis(250)), 1);
        assert_eq!(passed(&limits, &one, T0 + Duration::from_secs(1)), 3);
        assert_eq!(passed(&limits, &one, T0 + Duration::from_mins(1)), 4);
    }

    #[test]
    fn a_clock_that_steps_back_shuts_nobody_out() {
        let limits = RateLimits::new(NonZeroU32::new(4));
        assert_eq!(passed(&limits, &key(1), T0), 4);
        assert_eq!(
            passed(&limits, &key(1), T0.minus(Duration::from_secs(3_600))),
            0
        );
        assert_eq!(
            passed(&limits, &key(1), T0.minus(Duration::from_secs(3_599))),
            4
        );
    }

    #[test]
    fn without_a_limit_everything_passes() {
        let limits = RateLimits::new(None);
        assert_eq!(passed(&limits, &key(1), T0), 10);
        assert!(limits.by_key.lock().is_empty());
    }

    #[test]
    fn buckets_that_are_full_are_dropped() {
        let limits = RateLimits::new(NonZeroU32::new(1));
        for number in 0..KEPT as u128 {
            limits.take(&key(number), T0).unwrap();
        }
        limits
            .take(&key(KEPT as u128), T0 + Duration::from_secs(1))
            .unwrap();
        assert_eq!(limits.by_key.lock().len(), 1);
    }
}
