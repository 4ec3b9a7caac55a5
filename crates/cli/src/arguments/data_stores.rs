//! `data-stores` and its arguments.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct DataStoresArguments {
    #[command(subcommand)]
    pub(crate) command: DataStoresCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataStoresCommand {
    /// List the data stores
    List,
    /// Show the records of a data store
    Show {
        /// Data store: its name
        name: String,
    },
    /// Delete a data store with its records
    Delete {
        /// Data store: its name
        name: String,
    },
}
