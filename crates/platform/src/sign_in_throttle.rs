//! A bound on attempts to sign in that fail: of one address, and of all together. Keys cannot be guessed; the bound
//! keeps those who try from filling the log and the store's time.

use std::{collections::HashMap, time::Duration};

use headwater_model::time::EpochMs;
use parking_lot::Mutex;

use crate::error::PlatformError;

/// The time over which failures are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Failures of one address in a window.
const PER_ADDRESS: u32 = 10;
/// Failures of all addresses in a window.
const IN_ALL: u32 = 300;

/// Failures of the present window.
#[derive(Default)]
pub(crate) struct SignInThrottle {
    window: Mutex<Window>,
}

#[derive(Default)]
struct Window {
    begun_at_ms: EpochMs,
    in_all: u32,
    by_address: HashMap<String, u32>,
}

impl SignInThrottle {
    /// Lets an attempt be heard.
    ///
    /// # Errors
    /// `SignInThrottled` when too many failed in this window.
    pub(crate) fn check(&self, address: &str, now_ms: EpochMs) -> Result<(), PlatformError> {
        let mut window = self.window.lock();
        // Also when the clock stepped back.
        if window.begun_at_ms.abs_diff(now_ms) >= WINDOW {
            *window = Window {
                begun_at_ms: now_ms,
                ..Window::default()
            };
        }
        let of_address = window.by_address.get(address).copied();
        if window.in_all < IN_ALL && of_address.unwrap_or_default() < PER_ADDRESS {
            return Ok(());
        }
        let left = WINDOW.saturating_sub(now_ms.since(window.begun_at_ms));
        Err(PlatformError::SignInThrottled {
            retry_after_s: left.as_secs().max(1),
        })
    }

    /// Counts an attempt that failed.
    pub(crate) fn note_failure(&self, address: &str) {
        let mut window = self.window.lock();
        window.in_all += 1;
        // As many addresses at most as failures are counted.
        if window.in_all <= IN_ALL {
            *window.by_address.entry(address.to_owned()).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: EpochMs = EpochMs(1_700_000_000_000);

    /// The number of attempts of an address that are heard, each of which fails.
    fn heard(throttle: &SignInThrottle, address: &str, tries: u32, now_ms: EpochMs) -> u32 {
        let heard = (0..tries).take_while(|_| {
            let is_heard = throttle.check(address, now_ms).is_ok();
            throttle.note_failure(address);
            is_heard
        });
        u32::try_from(heard.count()).unwrap()
    }

    #[test]
    fn an_address_that_fails_often_waits_and_others_do_not() {
        let throttle = SignInThrottle::default();
        assert_eq!(heard(&throttle, "a", 20, T0), PER_ADDRESS);
        assert_eq!(heard(&throttle, "b", 1, T0), 1);
        let refused = throttle.check("a", T0 + Duration::from_secs(50));
        assert!(matches!(
            refused,
            Err(PlatformError::SignInThrottled { retry_after_s: 10 })
        ));
        assert!(throttle.check("a", T0 + WINDOW).is_ok());
    }

    #[test]
    fn many_addresses_together_are_bounded() {
        let throttle = SignInThrottle::default();
        let all: u32 = (0..IN_ALL * 2)
            .map(|number| heard(&throttle, &number.to_string(), 1, T0))
            .sum();
        assert_eq!(all, IN_ALL);
        assert!(throttle.window.lock().by_address.len() <= IN_ALL as usize);
        assert!(throttle.check("new", T0 + WINDOW).is_ok());
    }

    #[test]
    fn a_clock_that_steps_back_shuts_nobody_out() {
        let throttle = SignInThrottle::default();
        assert_eq!(heard(&throttle, "a", 20, T0), PER_ADDRESS);
        assert!(throttle.check("a", T0.minus(WINDOW)).is_ok());
    }
}
