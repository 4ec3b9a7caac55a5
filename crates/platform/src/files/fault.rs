//! Reasons why an operation on files did nothing, and how they are told.

use std::io::{self, ErrorKind};

use headwater_store::{FilePath, InvalidFilePath};

use crate::error::PlatformError;

const NO_DISK: &str = "the node has no disk space left for files; delete files that are no longer needed, or ask the operator for more";
const NOT_NOW: &str = "files cannot be reached now; try again later";

/// Why an operation did nothing.
#[derive(Debug)]
pub(super) enum Fault {
    /// The text is no path.
    Path(InvalidFilePath),
    /// There is no such file.
    Missing(String),
    /// It asked for something impossible.
    Refused(String),
    /// The storage failed.
    Storage(io::Error),
}

impl Fault {
    /// There is no file at a path.
    pub(super) fn missing(path: &FilePath) -> Self {
        Self::Missing(path.to_string())
    }

    /// The message for a step.
    pub(super) fn told(self) -> String {
        match self {
            Self::Path(invalid) => invalid.to_string(),
            Self::Missing(path) => {
                format!("there is no file `{path}`; list its folder with `$.files.dir()`")
            }
            Self::Refused(reason) => reason,
            Self::Storage(error) => {
                tracing::warn!(%error, "a step could not use its files");
                told_of_storage(&error).to_owned()
            }
        }
    }
}

fn told_of_storage(error: &io::Error) -> &'static str {
    let is_full = matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    );
    if is_full { NO_DISK } else { NOT_NOW }
}

impl From<InvalidFilePath> for Fault {
    fn from(invalid: InvalidFilePath) -> Self {
        Self::Path(invalid)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Storage(error)
    }
}

impl From<Fault> for PlatformError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Path(invalid) => Self::invalid("path", invalid),
            Fault::Missing(path) => Self::not_found("file", path),
            Fault::Refused(reason) => Self::Conflict(reason),
            Fault::Storage(error) => {
                Self::Unavailable(format!("{}: {error}", told_of_storage(&error)))
            }
        }
    }
}
