//! Findings: what can be said about a workflow's file before it is deployed.

use std::fmt;

use crate::{path::Path, yaml::Position};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A deployment would not work.
    Error,
    /// It would work, but hardly as it was meant.
    Warning,
    /// Something to know.
    Note,
}

impl Severity {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The place of a finding in the file, and in the workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundAt {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The step or block; `None` if it is about the workflow as a whole.
    pub path: Option<Path>,
}

impl FoundAt {
    pub(crate) fn new(position: Position, path: Option<Path>) -> Self {
        Self {
            line: position.line,
            column: position.column,
            path,
        }
    }
}

/// A finding. Display reads `line 7, column 3: warning: step: the message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Its place.
    pub place: FoundAt,
    /// The fact, and the next step.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(severity: Severity, place: FoundAt, message: impl Into<String>) -> Self {
        Self {
            severity,
            place,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FoundAt { line, column, path } = &self.place;
        let severity = self.severity.as_str();
        write!(f, "line {line}, column {column}: {severity}: ")?;
        if let Some(path) = path {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.message)
    }
}
