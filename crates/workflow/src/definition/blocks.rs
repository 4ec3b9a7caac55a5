//! Blocks that have no steps in them, and the parts of those that have.

use std::time::Duration;

use crate::template::{Condition, Template};

/// The test of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseTest {
    /// The value is this one, of the same type.
    Equals(Template),
    /// A condition holds. Rules without `a` look at the value of the `switch`, which is in the compiled condition.
    If(Condition),
}

/// The consequence of a failing branch or item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The block fails, and nothing further begins in it.
    #[default]
    FailFast,
    /// The failure is the result in its place.
    Settle,
}

/// The rounds of a loop.
#[derive(Debug, Clone, PartialEq)]
pub enum LoopSource {
    /// `over`: one for each item of an array.
    Over(Template),
    /// `while`: one for each time that a condition holds.
    While(Condition),
}

/// `delay`: a pause.
#[derive(Debug, Clone, PartialEq)]
pub struct Delay {
    /// Its length.
    pub length: DelayLength,
}

/// The length of a pause.
#[derive(Debug, Clone, PartialEq)]
pub enum DelayLength {
    /// `for`: a time span.
    For(Duration),
    /// `for`: a time span that an expression gives.
    ForValue(Template),
    /// `until`: a moment.
    Until(Template),
}

/// `wait`: a pause until somebody calls one of its URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Its longest time, 24 hours by default; `None` (`timeout: never`) if it has none.
    pub timeout: Option<Duration>,
    /// The consequence of nobody answering in it.
    pub on_timeout: OnTimeout,
}

/// The end of a wait that nobody answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// The run is cancelled.
    #[default]
    Cancel,
    /// The run goes on behind the block.
    Continue,
    /// The block fails.
    Fail,
}

/// `call`: a run of another workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The workflow, by id, name or folder.
    pub workflow: Template,
    /// The event of that run; `{}` by default.
    pub event: Template,
    /// `wait`: whether this run goes on only once that one has ended. On.
    pub waits: bool,
}

/// `end`: the run ends here, well.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// The reason that people see.
    pub reason: Option<Template>,
}
