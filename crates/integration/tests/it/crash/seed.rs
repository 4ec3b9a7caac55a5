//! Random numbers that can be had again.

use std::{fmt, time::SystemTime};

const VARIABLE: &str = "HEADWATER_TEST_SEED";

/// A generator (splitmix64) that says how to repeat it when its test fails.
pub(crate) struct Seed {
    first: u64,
    state: u64,
}

impl Seed {
    /// The seed in `HEADWATER_TEST_SEED`, else a new one.
    pub(crate) fn new() -> Self {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        Self::fixed(u64::from(now.subsec_nanos()) ^ (u64::from(std::process::id()) << 32))
    }

    /// The seed in `HEADWATER_TEST_SEED`, else this one.
    pub(crate) fn fixed(first: u64) -> Self {
        let given = std::env::var(VARIABLE)
            .ok()
            .and_then(|text| text.parse().ok());
        let first = given.unwrap_or(first);
        Self {
            first,
            state: first,
        }
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % end as u64).unwrap()
    }

    /// One of them.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)
    }
}

#[expect(clippy::print_stderr, reason = "whoever reads the failure needs it")]
impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat with {VARIABLE}={}", self.first);
        }
    }
}
