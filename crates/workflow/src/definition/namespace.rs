//! Namespaces: the names of steps and blocks, under which later steps see their results.

use std::{fmt, str::FromStr};

const CHARS_MAX: usize = 100;
/// Names that mean something else in `steps` or in paths.
const RESERVED: [&str; 3] = ["trigger", "on_error", "__proto__"];

/// The name of a step or block, unique in its workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(String);

/// The text cannot be a namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNamespace {
    /// There is nothing.
    #[error("a namespace cannot be empty")]
    Empty,
    /// It is too long.
    #[error("a namespace has {CHARS_MAX} characters at most")]
    TooLong,
    /// It has a character that paths, files or `steps.<namespace>` do not allow.
    #[error("`{0}` cannot be a namespace because of `{1}`: use letters, digits and `_`")]
    Character(String, char),
    /// It means something else.
    #[error("`{0}` cannot be a namespace, because it means something else; take another name")]
    Reserved(String),
}

impl Namespace {
    /// A name that may break the rules, in a draft.
    pub(super) fn unchecked(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Namespace {
    type Err = InvalidNamespace;

    fn from_str(text: &str) -> Result<Self, InvalidNamespace> {
        if text.is_empty() {
            return Err(InvalidNamespace::Empty);
        }
        if text.chars().count() > CHARS_MAX {
            return Err(InvalidNamespace::TooLong);
        }
        if let Some(bad) = text.chars().find(|c| !is_allowed(*c)) {
            return Err(InvalidNamespace::Character(text.to_owned(), bad));
        }
        match RESERVED.contains(&text) {
            true => Err(InvalidNamespace::Reserved(text.to_owned())),
            false => Ok(Self(text.to_owned())),
        }
    }
}

fn is_allowed(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_name_of_letters_and_digits() {
        for text in ["a", "send_2", "End_if_output", "überweisen", "1st"] {
            assert_eq!(text.parse::<Namespace>().unwrap().as_str(), text);
        }
        for text in [
            "",
            "a.b",
            "a b",
            "a-b",
            "a[0]",
            "a/b",
            "{a}",
            "a\n",
            "trigger",
            "on_error",
            "__proto__",
            &"a".repeat(101),
        ] {
            assert!(text.parse::<Namespace>().is_err(), "{text}");
        }
    }
}
