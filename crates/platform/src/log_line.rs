//! A line of a run's log, as reports and records show it.

use headwater_engine::LogLevel;
use headwater_model::time::EpochMs;
use serde::{Deserialize, Serialize};

/// A line of a run's log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LogLine {
    /// The severity.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// Epoch milliseconds.
    pub ts: EpochMs,
}
