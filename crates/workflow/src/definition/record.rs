//! Things that a reader saw on its way through a file, for [`crate::check`]: expressions and texts with their places, unknown
//! keys, and keys that are not Pipedream's.

use std::collections::{HashMap, HashSet};

use crate::{finding::Finding, path::Path, yaml::Position};

/// The results that an expression sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of the trigger only.
    Trigger,
    /// Those before a step or block, which asks.
    Before(Path),
    /// The same, and those of the last round of this loop.
    Round(Path),
}

/// An expression of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) position: Position,
    /// Its place in the step or in the settings, for messages: `props.text`.
    pub(crate) place: String,
    pub(crate) scope: Scope,
}

/// A text of the file that stands for itself, or is the rest of a text with expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) position: Position,
    pub(crate) place: String,
    pub(crate) scope: Scope,
}

/// The notes of a reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) expressions: Vec<Expression>,
    pub(crate) literals: Vec<Literal>,
    /// Unknown keys and the like.
    pub(crate) findings: Vec<Finding>,
    /// Keys that Pipedream would not know.
    pub(crate) additions: Vec<Finding>,
    /// The places of steps and blocks.
    pub(crate) nodes: HashMap<Path, Position>,
    /// The places of code within the file, by step.
    pub(crate) codes: HashMap<Path, Position>,
    /// The names of steps and blocks that could not be read.
    pub(crate) unread: HashSet<String>,
    /// Whether there are triggers that could not be read.
    pub(crate) has_unread_triggers: bool,
}

impl Scope {
    /// The step or block that an expression belongs to.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Trigger => None,
            Self::Before(path) | Self::Round(path) => Some(path),
        }
    }
}
