//! Moments of the wall clock. Milliseconds and seconds are types of their own, so a wrong one does not
//! compile; a span between two moments is a [`Duration`].
//!
//! Deliberately without a clock, and without time zones and calendars.

use std::{fmt, ops::Add, time::Duration};

use serde::{Deserialize, Serialize};

/// A moment in milliseconds since the epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EpochMs(pub u64);

/// A moment in seconds since the epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EpochSeconds(pub u64);

impl EpochMs {
    /// The moment so much earlier, not before the epoch.
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(whole_ms(span)))
    }

    /// The time from an earlier moment to this one; none if that one is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The UTC day that it lies in, counted from the epoch.
    pub fn day(self) -> u64 {
        self.0 / (24 * 60 * 60 * 1000)
    }

    /// The UTC hour that it lies in, counted from the epoch.
    pub fn hour(self) -> u64 {
        self.0 / (60 * 60 * 1000)
    }

    /// The time between two moments, whichever is the earlier one.
    pub fn abs_diff(self, other: Self) -> Duration {
        self.since(other).max(other.since(self))
    }

    /// The second that it lies in.
    pub fn to_seconds(self) -> EpochSeconds {
        EpochSeconds(self.0 / 1000)
    }
}

/// The moment so much later, in whole milliseconds; the last that there is when that is too late.
impl Add<Duration> for EpochMs {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(whole_ms(span)))
    }
}

impl fmt::Display for EpochMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl EpochSeconds {
    /// The moment so much earlier, not before the epoch.
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.as_secs()))
    }

    /// The time from an earlier moment to this one; none if that one is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }

    /// The time between two moments, whichever is the earlier one.
    pub fn abs_diff(self, other: Self) -> Duration {
        self.since(other).max(other.since(self))
    }

    /// Its first millisecond.
    pub fn to_ms(self) -> EpochMs {
        EpochMs(self.0.saturating_mul(1000))
    }
}

/// The moment so much later, in whole seconds; the last that there is when that is too late.
impl Add<Duration> for EpochSeconds {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_secs()))
    }
}

fn whole_ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_stop_at_both_ends_of_time() {
        let (first, last) = (EpochMs(0), EpochMs(u64::MAX));
        assert_eq!(EpochMs(5) + Duration::MAX, last);
        assert_eq!(EpochMs(5).minus(Duration::MAX), first);
        assert_eq!(first.since(last), Duration::ZERO);

        let (first, last) = (EpochSeconds(0), EpochSeconds(u64::MAX));
        assert_eq!(EpochSeconds(5) + Duration::MAX, last);
        assert_eq!(EpochSeconds(5).minus(Duration::MAX), first);
        assert_eq!(first.since(last), Duration::ZERO);
        assert_eq!(last.to_ms(), EpochMs(u64::MAX));
    }

    #[test]
    fn a_moment_is_a_bare_number_in_json() {
        assert_eq!(serde_json::to_string(&EpochMs(1_700)).unwrap(), "1700");
        assert_eq!(
            serde_json::from_str::<EpochSeconds>("17").unwrap(),
            EpochSeconds(17)
        );
    }

    proptest! {
        #[test]
        fn a_second_holds_its_milliseconds(ms: u64) {
            let second = EpochMs(ms).to_seconds();
            prop_assert!(second.to_ms() <= EpochMs(ms));
            prop_assert!(EpochMs(ms).since(second.to_ms()) < Duration::from_secs(1));
        }

        #[test]
        fn going_on_and_back_by_a_span_ends_where_it_began(ms in 0u64..1 << 62, span_ms in 0u64..1 << 62) {
            let (from, span) = (EpochMs(ms), Duration::from_millis(span_ms));
            prop_assert_eq!((from + span).since(from), span);
            prop_assert_eq!((from + span).minus(span), from);
            prop_assert_eq!((from + span).abs_diff(from), from.abs_diff(from + span));
        }
    }
}
