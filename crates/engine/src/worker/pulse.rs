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
    awaited: Option<Ping>,
}

#[derive(Debug)]
struct Ping {
    since: Beat,
    /// The last run that the worker was given before it.
    last_run: u64,
    /// Whether somebody was told that the answer is overdue.
    is_reported: bool,
}

/// A moment, and the processor time that the process had used then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub(super) at: Instant,
    pub(super) used: Duration,
}

impl Pulse {
    /// Whether a ping is to be sent now; it counts as sent, after that run.
    pub(super) fn is_to_be_taken(&mut self, now: Beat, last_run: u64) -> bool {
        let is_free = self.awaited.is_none();
        self.awaited.get_or_insert(Ping {
            since: now,
            last_run,
            is_reported: false,
        });
        is_free
    }

    /// The worker has answered.
    pub(super) fn felt(&mut self) {
        self.awaited = None;
    }

    /// The time without an answer counts from now on.
    pub(super) fn wait_from(&mut self, now: Beat) {
        if let Some(ping) = &mut self.awaited {
            ping.since = now;
            ping.is_reported = false;
        }
    }

    /// Whether a ping is unanswered.
    pub(super) fn is_awaited(&self) -> bool {
        self.awaited.is_some()
    }

    /// The last run that was there before the ping, if that has been unanswered for too long because code ran all that
    /// time. Said once for each ping: later runs have no part in it, and the others end one by one before its answer.
    pub(super) fn stopped_by(&mut self, now: Beat) -> Option<u64> {
        let ping = self.awaited.as_mut().filter(|ping| !ping.is_reported)?;
        let waited = now.at.saturating_duration_since(ping.since.at);
        let used = now.used.saturating_sub(ping.since.used);
        ping.is_reported = waited >= STOPPED_AFTER && used >= BUSY_FOR;
        ping.is_reported.then_some(ping.last_run)
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
        assert_eq!(pulse.stopped_by(beat(5_000, 5_000)), None, "not asked");
        assert!(pulse.is_to_be_taken(beat(0, 0), 3));
        assert!(!pulse.is_to_be_taken(beat(250, 250), 4), "one at a time");
        assert_eq!(pulse.stopped_by(beat(999, 999)), None);
        assert_eq!(pulse.stopped_by(beat(5_000, 700)), None);
        assert_eq!(pulse.stopped_by(beat(1_000, 750)), Some(3));
        assert_eq!(pulse.stopped_by(beat(2_000, 1_750)), None, "said once");
        pulse.wait_from(beat(1_000, 750));
        assert_eq!(pulse.stopped_by(beat(1_900, 1_650)), None);
        assert!(pulse.is_awaited());
        pulse.felt();
        assert!(!pulse.is_awaited() && pulse.is_to_be_taken(beat(2_000, 2_000), 5));
    }
}
