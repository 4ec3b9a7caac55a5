//! The report of a manual run.

use headwater_model::{id::InvocationId, outcome::Outcome};
use serde::Serialize;

use crate::log_line::LogLine;

/// The result of a manual run.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// Its outcome.
    pub outcome: Outcome,
    /// Events that it appended, duplicates not counted.
    pub events: u64,
    /// Its logs.
    pub logs: Vec<LogLine>,
}
