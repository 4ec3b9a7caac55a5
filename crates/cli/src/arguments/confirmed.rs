//! The flag of every command that deletes, or does something else that is not taken back.

use clap::Args;

/// Deletions ask on a terminal.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Confirmed {
    /// Do not ask first; it is asked at a terminal only
    #[arg(short, long)]
    pub(crate) yes: bool,
}
