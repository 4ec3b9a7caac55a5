//! A line of a run's log, as reports show it.

use headwater_engine::LogLevel;
use serde::Serialize;

/// A line of a run's log.
#[derive(Debug, Clone, Serialize)]
pub struct LogLine {
    /// The severity.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// Epoch milliseconds.
    pub ts: u64,
}
