//! Reports of runs by hand.

use headwater_model::{
    id::InvocationId,
    outcome::{self, Limit},
    time::EpochMs,
};
use headwater_platform::LogLevel;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::{
    ToSchema,
    openapi::{Object, ObjectBuilder, schema::Type},
};

use super::id;

/// The result of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunReport {
    #[schema(value_type = id::Invocation)]
    invocation_id: InvocationId,
    outcome: Outcome,
    /// Events that it appended, duplicates not counted.
    events: u64,
    logs: Vec<LogLine>,
}

/// The result of an action's run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActionReport {
    #[schema(value_type = id::Invocation)]
    invocation_id: InvocationId,
    outcome: Outcome,
    /// The values given to `$.export`, by name.
    #[schema(value_type = Object)]
    exports: Map<String, Value>,
    /// The exported `$summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The reason given to `$.flow.exit`, if it was called: in a workflow nothing would follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<String>,
    logs: Vec<LogLine>,
}

/// The outcome of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(super) enum Outcome {
    /// The code returned.
    Returned {
        /// The return value of `run`, if it is JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// The code threw.
    Threw { error: ComponentError },
    /// The run was ended at a limit.
    LimitExceeded {
        #[schema(schema_with = limit)]
        limit: Limit,
        message: String,
    },
    /// The worker was lost for a reason outside of this run.
    Lost { message: String },
    /// Somebody cancelled the run; nothing of it counts but its log.
    Cancelled { message: String },
}

/// An error that a component threw.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ComponentError {
    /// The error's class, such as `TypeError`.
    name: String,
    message: String,
    /// Frames in the component's own lines; empty when there are none.
    stack: String,
    /// The error's own `code`, when it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Value>,
    /// The status of the HTTP response that it is about, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

/// A line that a run logged.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LogLine {
    #[schema(schema_with = level)]
    level: LogLevel,
    message: String,
    /// Epoch milliseconds.
    #[schema(value_type = u64)]
    ts: EpochMs,
}

/// The lines that a run under way has logged since its last commit, which are not events yet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpenLog {
    #[schema(value_type = id::Invocation)]
    run_id: InvocationId,
    /// Oldest first.
    lines: Vec<LogLine>,
}

fn limit() -> Object {
    one_of(["wall", "memory", "output"])
}

fn level() -> Object {
    one_of(["debug", "info", "warn", "error"])
}

fn one_of<const N: usize>(names: [&str; N]) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names))
        .build()
}

impl From<headwater_platform::RunReport> for RunReport {
    fn from(report: headwater_platform::RunReport) -> Self {
        Self {
            invocation_id: report.invocation_id,
            outcome: report.outcome.into(),
            events: report.events,
            logs: report.logs.into_iter().map(LogLine::from).collect(),
        }
    }
}

impl From<headwater_platform::ActionReport> for ActionReport {
    fn from(report: headwater_platform::ActionReport) -> Self {
        Self {
            invocation_id: report.invocation_id,
            outcome: report.outcome.into(),
            exports: report.exports,
            summary: report.summary,
            exit: report.exit,
            logs: report.logs.into_iter().map(LogLine::from).collect(),
        }
    }
}

impl From<headwater_platform::OpenLog> for OpenLog {
    fn from(log: headwater_platform::OpenLog) -> Self {
        Self {
            run_id: log.run_id,
            lines: log.lines.into_iter().map(LogLine::from).collect(),
        }
    }
}

impl From<headwater_platform::LogLine> for LogLine {
    fn from(line: headwater_platform::LogLine) -> Self {
        Self {
            level: line.level,
            message: line.message,
            ts: line.ts,
        }
    }
}

impl From<outcome::ComponentError> for ComponentError {
    fn from(error: outcome::ComponentError) -> Self {
        Self {
            name: error.name,
            message: error.message,
            stack: error.stack,
            code: error.code,
            status: error.status,
        }
    }
}

impl From<outcome::Outcome> for Outcome {
    fn from(outcome: outcome::Outcome) -> Self {
        match outcome {
            outcome::Outcome::Returned { value } => Self::Returned { value },
            outcome::Outcome::Threw { error } => Self::Threw {
                error: error.into(),
            },
            outcome::Outcome::LimitExceeded { limit, message } => {
                Self::LimitExceeded { limit, message }
            }
            outcome::Outcome::Lost { message } => Self::Lost { message },
            outcome::Outcome::Cancelled { message } => Self::Cancelled { message },
        }
    }
}
