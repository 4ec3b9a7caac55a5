//! `data-stores` and its arguments.

use clap::{Args, Subcommand};

use super::confirmed::Confirmed;

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
        #[arg(id = "data_store", value_name = "NAME")]
        name: String,
        /// Only records whose keys begin with this
        #[arg(long, value_name = "TEXT")]
        prefix: Option<String>,
    },
    /// List the sources and workflows whose props name a data store
    Users {
        /// Data store: its name
        #[arg(id = "data_store", value_name = "NAME")]
        name: String,
    },
    /// Print the value of a record
    Get {
        /// Data store: its name
        #[arg(id = "data_store", value_name = "NAME")]
        name: String,
        /// Key of the record
        key: String,
    },
    /// Write a record; the first one creates the data store
    Set {
        /// Data store: its name
        #[arg(id = "data_store", value_name = "NAME")]
        name: String,
        /// Key of the record
        key: String,
        /// Value: JSON, @FILE, or @- for standard input
        value: String,
        /// Seconds after which the record expires; without, it stays
        #[arg(long, value_name = "SECONDS")]
        ttl: Option<f64>,
    },
    /// Delete a record, or a data store with all its records
    Delete {
        /// Data store: its name
        #[arg(id = "data_store", value_name = "NAME")]
        name: String,
        /// Key of the record; without, the data store is deleted
        key: Option<String>,
        #[command(flatten)]
        confirmed: Confirmed,
    },
}
