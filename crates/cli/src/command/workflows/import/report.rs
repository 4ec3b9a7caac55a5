//! The report of an import, as text for a terminal and as the file beside the folders.

mod sections;
mod text;

use anyhow::{Context as _, Result};

use super::outcome::Outcome;

/// The name of the file.
pub(super) const FILE: &str = "import-report.md";

/// Writes the file, in place of the one of an earlier import.
pub(super) fn write(outcome: &Outcome) -> Result<()> {
    let file = &outcome.report;
    std::fs::write(file, text::markdown(outcome))
        .with_context(|| format!("cannot write the report {}", file.display()))
}

/// The text for a terminal.
pub(super) fn plain(outcome: &Outcome) -> String {
    text::plain(outcome)
}
