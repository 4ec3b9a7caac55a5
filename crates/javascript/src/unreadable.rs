//! The reasons why a text cannot be cut into tokens.

/// The fault in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A string does not end in its line.
    #[error("a string is not closed")]
    OpenString,
    /// A template does not end.
    #[error("a template (`` ` ``) is not closed")]
    OpenTemplate,
    /// A regular expression does not end in its line.
    #[error("a regular expression is not closed")]
    OpenRegularExpression,
    /// A comment does not end.
    #[error("a comment is not closed")]
    OpenComment,
    /// A bracket is not closed.
    #[error("`{0}` is not closed")]
    OpenBracket(char),
    /// A bracket closes nothing.
    #[error("`{0}` closes nothing")]
    StrayBracket(char),
}

/// The text cannot be read as JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable {
    /// The offset of the literal, comment or bracket that is at fault.
    pub at: usize,
    /// The fault.
    pub fault: Fault,
}
