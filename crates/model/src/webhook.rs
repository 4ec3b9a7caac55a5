//! Webhooks and the rules of delivering to them (docs/guide/webhooks.md).

mod answer;
mod cause;

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

pub use self::{
    answer::{AnswerKind, AttemptFailure, InvalidAnswerKind},
    cause::AttemptCause,
};
use crate::{duration, time::EpochMs};

/// A delivery that was not taken within this time has failed.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// The time after which an attempt counts as slow.
pub const QUICK_WITHIN: Duration = Duration::from_secs(2);
/// A webhook that takes nothing for this long is disabled.
pub const DISABLED_AFTER: Duration = Duration::from_secs(5 * 24 * 60 * 60);
/// The time that a secret stays valid after a new one was created.
pub const FORMER_SECRET_VALID: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest `Retry-After` of a receiver that counts.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of a response that are kept with its attempt.
pub const RESPONSE_EXCERPT_BYTES: usize = 2048;
/// Headers of a request or response that are kept with its attempt.
pub const HEADERS_KEPT: usize = 32;
/// Bytes of a header's value that are kept.
pub const HEADER_VALUE_BYTES: usize = 256;

/// The order in which a webhook gets an emitter's events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOrder {
    /// One after the other, in the order of the log, while the webhook takes them.
    #[default]
    Strict,
    /// In parallel, as many as a webhook may have in flight.
    #[serde(rename = "none")]
    Unordered,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be attempted, or attempted again.
    Pending,
    /// The webhook answered with 2xx.
    Delivered,
    /// Given up: a dead letter. It may be retried by hand.
    Dead,
    /// Given up by hand. It may be retried by hand, too.
    Discarded,
}

impl DeliveryState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Dead, Self::Discarded];
}

/// The waits after failed attempts; after the last of them the delivery is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backoff(Vec<Duration>);

impl Default for Backoff {
    /// 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h.
    fn default() -> Self {
        Self(
            [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
                .map(Duration::from_secs)
                .to_vec(),
        )
    }
}

impl Backoff {
    /// The waits, in order.
    pub fn new(waits: Vec<Duration>) -> Self {
        Self(waits)
    }

    /// The time to wait after the failed attempt with this number (from 1); `None`: no more. `entropy`
    /// spreads the waits up to a tenth beyond the schedule, so that deliveries that failed together do
    /// not come back together. A longer `retry_after` of the receiver counts instead.
    pub fn wait(
        &self,
        attempt: u32,
        retry_after: Option<Duration>,
        entropy: u32,
    ) -> Option<Duration> {
        let scheduled = *self.0.get(attempt.checked_sub(1)? as usize)?;
        let jitter = scheduled.mul_f64(f64::from(entropy) / f64::from(u32::MAX) / 10.0);
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        Some((scheduled + jitter).max(asked))
    }
}

/// The reason why a text is not a backoff schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a schedule: expected times such as 5s,5m,30m,2h separated by commas")]
pub struct InvalidBackoff(String);

impl FromStr for Backoff {
    type Err = InvalidBackoff;

    /// `5s,5m,30m,2h`; empty: one attempt and no more.
    fn from_str(text: &str) -> Result<Self, InvalidBackoff> {
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        let waits: Option<Vec<_>> = parts.map(|part| duration::parse(part.trim())).collect();
        waits
            .map(Self)
            .ok_or_else(|| InvalidBackoff(text.to_owned()))
    }
}

/// Whether a webhook that has failed since then is disabled by a failure now.
pub fn is_given_up(failing_since_ms: Option<EpochMs>, now_ms: EpochMs) -> bool {
    failing_since_ms.is_some_and(|since_ms| now_ms.since(since_ms) >= DISABLED_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_ends_after_eight_attempts() {
        let backoff = Backoff::default();
        let waits: Vec<_> = (1..)
            .map_while(|attempt| backoff.wait(attempt, None, 0))
            .collect();
        assert_eq!(waits.len(), 7);
        assert_eq!(waits[0], Duration::from_secs(5));
        assert_eq!(backoff.wait(0, None, 0), None);
    }

    #[test]
    fn jitter_adds_at_most_a_tenth_and_a_longer_retry_after_wins() {
        let backoff = Backoff::default();
        assert_eq!(
            backoff.wait(1, None, u32::MAX),
            Some(Duration::from_millis(5_500))
        );
        let minute = Duration::from_secs(60);
        assert_eq!(backoff.wait(1, Some(minute), 0), Some(minute));
        assert_eq!(
            backoff.wait(1, Some(Duration::from_secs(1)), 0),
            Some(Duration::from_secs(5))
        );
        assert_eq!(
            backoff.wait(1, Some(Duration::MAX), 0),
            Some(RETRY_AFTER_MAX)
        );
    }

    #[test]
    fn a_schedule_is_written_as_times() {
        assert_eq!("5s,5m, 30m,2h,5h,10h,10h".parse(), Ok(Backoff::default()));
        assert_eq!("".parse(), Ok(Backoff::new(Vec::new())));
        for bad in ["5", "s", "5y", "-5s", "5s;6s"] {
            assert!(bad.parse::<Backoff>().is_err(), "{bad}");
        }
    }

    #[test]
    fn five_days_of_failure_are_enough() {
        let since = EpochMs(24 * 60 * 60 * 1000);
        let five_days = Duration::from_hours(5 * 24);
        assert!(!is_given_up(None, since + 2 * five_days));
        let almost = (since + five_days).minus(Duration::from_millis(1));
        assert!(!is_given_up(Some(since), almost));
        assert!(is_given_up(Some(since), since + five_days));
    }
}
