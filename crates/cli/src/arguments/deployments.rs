//! The command line of `deployments` and `roll-back`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct DeploymentsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<DeploymentsCommand>,
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME", required = true)]
    pub(crate) source: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeploymentsCommand {
    /// Show a deployment of a source with its values; secrets are not shown
    Describe {
        #[command(flatten)]
        deployment: DeploymentArguments,
        /// Print its code alone
        #[arg(long)]
        code: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DeploymentArguments {
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) source: String,
    /// Deployment: its id, as `headwater deployments` lists it
    #[arg(value_name = "DEPLOYMENT")]
    pub(crate) deployment: String,
}
