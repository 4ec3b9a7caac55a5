//! Signs of life of a worker's event loop: code that does not let go of it keeps every other run waiting.

use std::time::Duration;

use tokio::time::Instant;

/// The time without a sign after which others have been kept waiting for too long.
const STOPPED_AFTER: Duration = Duration::from_secs(1);
/// The processor time that the process must have used meanwhile: on a busy machine it may have had none.
const BUSY_FOR: Duration = Duration::from_millis(750);

/// The ping that the worker has not answered, if there is one.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    awaited: Option<Beat>,
}

/// A moment, and the processor time that the process had used then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub(super) at: Instant,
    pub(super) used: Duration,
}

impl Pulse {
    /// Whether a ping is to be sent now; it counts as sent.
    pub(super) fn is_to_be_taken(&mut self, now: Beat) -> bool {
        let is_free = self.awaited.is_none();
        self.awaited.get_or_insert(now);
        is_free
    }

    /// The worker has answered.
    pub(super) fn felt(&mut self) {
        self.awaited = None;
    }

    /// The time without an answer counts from now on.
    pub(super) fn wait_from(&mut self, now: Beat) {
        self.awaited = self.awaited.map(|_| now);
    }

    /// Whether a ping is unanswered.
    pub(super) fn is_awaited(&self) -> bool {
        self.awaited.is_some()
    }

    /// Whether one has been unanswered for too long, because code ran all that time.
    pub(super) fn has_stopped(&self, now: Beat) -> bool {
        self.awaited.is_some_and(|since| {
            let waited = now.at.saturating_duration_since(since.at);
            let used = now.used.saturating_sub(since.used);
            waited >= STOPPED_AFTER && used >= BUSY_FOR
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Beat, Pulse};

    #[test]
    fn a_loop_that_is_busy_for_a_second_has_stopped_and_one_without_a_processor_has_not() {
        let start = Instant::now();
        let beat = |ms: u64, used: u64| Beat {
            at: start + Duration::from_millis(ms),
            used: Duration::from_millis(used),
        };
        let mut pulse = Pulse::default();
        assert!(!pulse.has_stopped(beat(5_000, 5_000)), "nothing was asked");
        assert!(pulse.is_to_be_taken(beat(0, 0)));
        assert!(!pulse.is_to_be_taken(beat(250, 250)), "one at a time");
        assert!(!pulse.has_stopped(beat(999, 999)));
        assert!(!pulse.has_stopped(beat(5_000, 700)));
        assert!(pulse.has_stopped(beat(1_000, 750)));
        pulse.wait_from(beat(1_000, 750));
        assert!(!pulse.has_stopped(beat(1_900, 1_650)));
        assert!(pulse.is_awaited());
        pulse.felt();
        assert!(!pulse.is_awaited() && pulse.is_to_be_taken(beat(2_000, 2_000)));
    }
}
