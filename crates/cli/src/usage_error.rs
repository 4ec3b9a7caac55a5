//! The error of a command line that cannot be obeyed. Its exit code is `exit`'s business.

/// The command line asks for something that cannot be: exit code 2, as clap's own complaints.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl UsageError {
    /// An option that another one needs is not given.
    pub(crate) fn missing(option: &str, beside: &str) -> Self {
        Self(format!("{option}: must be given with {beside}"))
    }
}
