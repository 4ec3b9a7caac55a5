//! Where a rule does not hold, one line each, with the reason.

use super::violation::Rule;

/// This file, for messages.
pub(super) const FILE: &str = "xtask/src/tidy/exceptions.rs";

/// One path, or a folder (`a/`) with all in it, for which one rule does not hold.
pub(super) struct Exception {
    pub(super) rule: Rule,
    pub(super) path: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const EXCEPTIONS: &[Exception] = &[];
