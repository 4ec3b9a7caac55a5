//! JavaScript as text: as far as tokens, brackets and the ends of expressions.
//!
//! Responsible for telling code from strings, templates, comments and regular expressions, and for finding expressions
//! in other text. Deliberately not a parser: it knows no grammar beyond that, and runs nothing.

#![warn(missing_docs)]

pub mod embedded;
pub mod expression;
pub mod position;
pub mod scanner;
pub mod unreadable;
