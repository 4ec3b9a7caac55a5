//! A line of a run's log, as reports and records show it.

use headwater_engine::LogLevel;
use headwater_model::{id::InvocationId, time::EpochMs};
use serde::{Deserialize, Serialize};

/// A line of a run's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The severity.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// Epoch milliseconds.
    pub ts: EpochMs,
}

/// The lines that a run under way has logged since its last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLog {
    /// The run.
    pub run_id: InvocationId,
    /// Its lines, oldest first.
    pub lines: Vec<LogLine>,
}

impl OpenLog {
    /// Takes out the lines that were committed since they were read: `committed` are the run's newest ones that are, oldest
    /// first. Lines are committed in their order, so the last of those that were is the newest that is.
    pub(crate) fn leave_out(&mut self, committed: &[LogLine]) {
        let is_committed = |count: &usize| {
            let both = (*count).min(committed.len());
            self.lines[count - both..*count] == committed[committed.len() - both..]
        };
        let all = self.lines.len();
        if !committed.is_empty()
            && let Some(count) = (1..=all).rev().find(is_committed)
        {
            self.lines.drain(..count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(messages: &str) -> Vec<LogLine> {
        let lines = messages.chars().enumerate().map(|(at, message)| LogLine {
            level: LogLevel::Info,
            message: message.to_string(),
            ts: EpochMs(at as u64 / 2),
        });
        lines.collect()
    }

    #[test]
    fn lines_that_were_committed_meanwhile_are_left_out() {
        let all = lines("abcd");
        for (committed, open, left) in [
            // Nothing of them is committed, nor was anything before.
            (&all[..0], &all[..2], &all[..2]),
            // Those of before are, and these are not.
            (&all[..2], &all[2..], &all[2..]),
            // All of them are, or all but the last; the page begins behind the first of them.
            (&all[..], &all[2..], &all[..0]),
            (&all[..3], &all[..], &all[3..]),
            (&all[2..3], &all[1..], &all[3..]),
            (&all[1..], &all[..], &all[..0]),
        ] {
            let mut log = OpenLog {
                run_id: InvocationId::new(EpochMs(1), 1),
                lines: open.to_vec(),
            };
            log.leave_out(committed);
            assert_eq!(log.lines, left, "{committed:?} {open:?}");
        }
    }
}
