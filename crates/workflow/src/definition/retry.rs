//! Retry policies.

use std::time::Duration;

/// A failure that a policy can name. Errors of the configuration are never tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The code threw.
    Thrown,
    /// The step took too long.
    Timeout,
    /// The worker's memory was used up.
    OutOfMemory,
    /// The worker went away.
    WorkerLost,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Thrown,
        Self::Timeout,
        Self::OutOfMemory,
        Self::WorkerLost,
    ];

    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thrown => "thrown",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::WorkerLost => "worker_lost",
        }
    }
}

/// How often and when a failed step is tried again.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// Tries in all, the first one included.
    pub attempts: u32,
    /// The pause before the second try.
    pub initial: Duration,
    /// Each further pause is so many times the one before.
    pub factor: f64,
    /// The longest pause.
    pub max: Duration,
    /// Whether pauses are shortened by chance, so that tries do not come together.
    pub jitter: bool,
    /// The failures after which it is tried again.
    pub on: Vec<FailureKind>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 3,
            initial: Duration::from_secs(1),
            factor: 2.0,
            max: Duration::from_mins(5),
            jitter: true,
            on: vec![FailureKind::Thrown],
        }
    }
}

impl Retry {
    /// `auto_retry: true`, as Pipedream has it: eight further tries within ten hours, and only of code that threw.
    ///
    /// With a factor of 2 the pauses are 1, 2, 4, … 128 times the first, 255 times together; 141 seconds make it 9 h
    /// 59 min. Nothing is left to chance, so that the last try comes when it is expected.
    pub fn automatic() -> Self {
        Self {
            attempts: 9,
            initial: Duration::from_secs(141),
            factor: 2.0,
            max: Duration::from_hours(10),
            jitter: false,
            on: vec![FailureKind::Thrown],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_retries_take_about_ten_hours() {
        let retry = Retry::automatic();
        let pauses = (0..retry.attempts - 1).map(|index| {
            let pause = retry
                .initial
                .mul_f64(retry.factor.powi(i32::try_from(index).unwrap()));
            pause.min(retry.max)
        });
        let (count, sum) = pauses.fold((0, Duration::ZERO), |(count, sum), pause| {
            (count + 1, sum + pause)
        });
        assert_eq!(count, 8);
        assert_eq!(sum, Duration::from_secs(35_955));
    }
}
