//! The amount of a run's log that is kept. Not responsible for a line's run or destination.

use crate::api::{LogLevel, RunMessage};

/// The least that a line counts: empty ones cost memory, too.
const LINE_BYTES: usize = 16;

/// Counts lines against a limit.
pub(super) struct LogBudget {
    limit_bytes: usize,
    used_bytes: usize,
}

impl LogBudget {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            used_bytes: 0,
        }
    }

    /// Whether another line would be kept or reported.
    pub(super) fn is_open(&self) -> bool {
        self.used_bytes <= self.limit_bytes
    }

    /// The text to log for a line of `bytes`: the line itself, then one note that the limit is reached, then nothing.
    pub(super) fn admit(
        &mut self,
        level: LogLevel,
        text: String,
        bytes: usize,
    ) -> Option<RunMessage> {
        if !self.is_open() {
            return None;
        }
        self.used_bytes += bytes.max(LINE_BYTES);
        if self.is_open() {
            return Some(RunMessage::Log { level, text });
        }
        let limit = self.limit_bytes;
        Some(RunMessage::Log {
            level: LogLevel::Warn,
            text: format!("logs go over the limit of {limit} bytes; the rest is not kept"),
        })
    }
}
