//! The builds of the node that are measured.

use std::path::PathBuf;

/// Builds of the node under measurement.
pub(crate) struct Builds {
    pub(crate) ours: PathBuf,
    /// The one to measure in turns with ours.
    pub(crate) other: Option<PathBuf>,
}
