//! The command line of `deployments` and `roll-back`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct DeploymentsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<DeploymentsCommand>,
    /// Source: its id, name or name slug. Or a workflow, also by its deployed folder
    #[arg(value_name = "SOURCE_OR_WORKFLOW", required = true)]
    pub(crate) of: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeploymentsCommand {
    /// Show a deployment with its values or files; secrets are not shown
    Describe {
        #[command(flatten)]
        deployment: DeploymentArguments,
        /// Print its code alone; of a workflow, its files one after the other
        #[arg(long)]
        code: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DeploymentArguments {
    /// Source: its id, name or name slug. Or a workflow, also by its deployed folder
    #[arg(value_name = "SOURCE_OR_WORKFLOW")]
    pub(crate) of: String,
    /// Deployment: its id, as `headwater deployments` lists it
    #[arg(value_name = "DEPLOYMENT")]
    pub(crate) deployment: String,
}
