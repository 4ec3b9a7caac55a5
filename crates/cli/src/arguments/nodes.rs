//! The command line of `nodes`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct NodesArguments {
    #[command(subcommand)]
    pub(crate) command: Option<NodesCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NodesCommand {
    /// List the nodes, with the part of each and what it has in hand
    List,
    /// Take a node out of work, and wait until another one has it
    ///
    /// Runs in progress have the time of its --shutdown-grace. The node goes on passing requests on, but is not ready, so that
    /// proxies send them elsewhere; then it can be stopped.
    Drain {
        /// Node: its id, or its address
        node: String,
    },
    /// Let a node take work over again
    Undrain {
        /// Node: its id, or its address
        node: String,
    },
}
