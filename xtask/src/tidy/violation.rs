//! One place where a rule is broken, as every rule says it.

use std::fmt;

/// A rule that can be broken, as exceptions name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Edge,
    FileSize,
    ModuleName,
    OpeningComment,
    MachinePath,
    CommentOpening,
    Circle,
    Contract,
    Invariant,
    Link,
    Markup,
    Vendored,
}

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) rule: Rule,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}
