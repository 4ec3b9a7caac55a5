//! A workflow on its way in: the files that its folder is to have, and the things that are to be told about it.

use std::collections::BTreeMap;

/// The bytes of files by path within the workflow's folder.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// A workflow of an origin.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Its folder, by path below the one that is written into.
    pub(super) folder: String,
    /// Its files; otherwise the reason that there are none.
    pub(super) files: Result<Files, String>,
    /// The text that the files were derived from, with its path, to be kept beside the folder.
    pub(super) original: Option<(String, Vec<u8>)>,
    /// The fields of that text that nothing was derived from.
    pub(super) not_understood: Vec<String>,
    /// Files that do not come over, with the reason.
    pub(super) left_out: Vec<String>,
}

/// The workflows of an origin.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) workflows: Vec<Incoming>,
    /// Workflows that the origin names and does not have.
    pub(super) missing: Vec<String>,
}
