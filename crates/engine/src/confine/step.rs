//! One process as its caller describes it; the launcher's plan adds how this machine confines it.

use std::path::Path;

use super::plan::{Calls, Entry, Limits};

/// One process to start.
pub(crate) struct Step<'a> {
    /// A program that it sees where the machine has it; Deno if none is named.
    pub(crate) program: Option<&'a Path>,
    /// The folder that it starts in, as it sees it.
    pub(crate) folder: &'a Path,
    /// An existing folder of the machine.
    pub(crate) base: &'a Path,
    /// Files that it sees besides Deno and the system's files.
    pub(crate) entries: Vec<Entry>,
    pub(crate) limits: Limits,
    pub(crate) calls: Calls,
}
