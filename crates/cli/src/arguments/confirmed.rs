//! The flag of every command that deletes.

use clap::Args;

/// Deletions ask on a terminal.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Confirmed {
    /// Do not ask before deleting; it is asked at a terminal only
    #[arg(short, long)]
    pub(crate) yes: bool,
}
