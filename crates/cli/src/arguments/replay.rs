//! The command line of `replay`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ReplayEventsArguments {
    /// Source: its id, name or name slug. Or a workflow, also by its deployed folder
    #[arg(value_name = "SOURCE_OR_WORKFLOW")]
    pub(crate) source: String,
    /// Events by their ids, up to 100
    #[arg(value_name = "ID", required = true)]
    pub(crate) events: Vec<String>,
    /// Send them to this listener alone: its id, or the name of a webhook or source
    #[arg(long, value_name = "LISTENER")]
    pub(crate) to: Option<String>,
    /// Tell who would get them, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
