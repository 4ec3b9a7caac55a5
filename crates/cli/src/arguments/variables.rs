//! The command line of `variables`.

use clap::{Args, Subcommand};

use super::confirmed::Confirmed;

#[derive(Debug, Args)]
pub(crate) struct VariablesArguments {
    #[command(subcommand)]
    pub(crate) command: VariablesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VariablesCommand {
    /// Set a variable; steps and expressions read it as `process.env.NAME`
    Set {
        /// Variable: its name, or NAME=VALUE
        #[arg(id = "variable", value_name = "NAME")]
        name: String,
        /// Value, @FILE, or @- for standard input; a value that begins with @ is written with a second one
        /// in front. Without a value you are asked for it, hidden
        value: Option<String>,
    },
    /// List the variables, without their values
    List,
    /// Delete a variable
    Delete {
        /// Variable: its name
        #[arg(id = "variable", value_name = "NAME")]
        name: String,
        #[command(flatten)]
        confirmed: Confirmed,
    },
}
