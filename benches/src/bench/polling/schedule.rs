//! The schedule of everybody who polls.

use std::time::Duration;

/// From one poll to the next.
pub(super) const PERIOD: Duration = Duration::from_secs(60);
/// A tick may be this late.
pub(super) const LATE_SECONDS: f64 = 1.0;
