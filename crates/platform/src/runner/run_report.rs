//! The report of a manual run.

use headwater_model::{id::InvocationId, outcome::Outcome};
use serde::Serialize;

use crate::log_line::LogLine;

/// How a manual run went.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// Which invocation it was.
    pub invocation_id: InvocationId,
    /// How it ended.
    pub outcome: Outcome,
    /// Events that it appended, duplicates not counted.
    pub events: u64,
    /// What it logged.
    pub logs: Vec<LogLine>,
}
