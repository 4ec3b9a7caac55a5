//! The command line of `profiles`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    #[command(subcommand)]
    pub(crate) command: ProfilesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// List the profiles: their nodes, and which one is current
    List,
    /// Let commands use another profile where nothing else names a node
    Use {
        /// Profile: its name
        #[arg(id = "chosen_profile", value_name = "NAME")]
        name: String,
    },
}
