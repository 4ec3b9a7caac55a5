//! The command line for the store of a node that does not run.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy all that a node has from a data folder into a PostgreSQL database, or back, and verify it
    ///
    /// No node may run on either. The destination must be empty: a new data folder, or a new database. A copy that was
    /// interrupted leaves a destination on which no node starts, and may be begun again.
    Copy(CopyStoreArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CopyStoreArguments {
    /// Data folder or database to copy; @FILE reads the URL from a file, so that its password is in no command line
    #[arg(long, value_name = "DIR|postgres://…|@FILE")]
    pub(crate) from: String,
    /// New data folder, or empty database, for the copy
    #[arg(long, value_name = "DIR|postgres://…|@FILE")]
    pub(crate) to: String,
}
