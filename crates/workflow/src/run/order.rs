//! Orders: what a run needs from outside to go on.

use crate::{definition::Template, path::Path, template::Condition};

/// A question to the expressions of a workflow. The answers come back in the same order.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// The value of a template.
    Value(Template),
    /// Whether a condition holds.
    Holds(Condition),
    /// The index of the first condition that holds, or `null`; `None` always holds.
    First(Vec<Option<Condition>>),
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Run the code of the step.
    Step,
    /// Evaluate expressions.
    Evaluate(Vec<Question>),
    /// Start a run of another workflow: [`super::RunTree::called`] answers it.
    Call {
        /// The workflow's id, name or folder, as the expression gave it.
        workflow: String,
        /// The event of the new run.
        event: super::kept::Kept,
        /// Whether the place waits for the end of that run.
        waits: bool,
    },
}

/// Work for one place. It stays the place's only one until it is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The place.
    pub path: Path,
    /// The work.
    pub work: Work,
}
