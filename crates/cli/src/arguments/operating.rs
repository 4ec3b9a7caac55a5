//! Arguments of the commands for whoever runs a node: checking it, and its backups.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Check only that the node answers, as health checks of containers do
    #[arg(long)]
    pub(crate) alive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// The new file, a .tar.gz
    pub(crate) file: PathBuf,
    /// Put the secret key and the first user's API key into it: with them, the file opens all credentials
    #[arg(long)]
    pub(crate) with_keys: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// A file of `headwater backup`; --data-dir names the folder to create
    pub(crate) file: PathBuf,
}
