//! The command line of `events`.

use clap::Args;

use super::channel;

#[derive(Debug, Args)]
pub(crate) struct EventsArguments {
    /// Source: its id, name or name slug. Or a workflow, also by its deployed folder
    #[arg(value_name = "SOURCE_OR_WORKFLOW")]
    pub(crate) source: String,
    /// Event to show whole, by its id
    #[arg(value_name = "ID", conflicts_with_all = ["follow", "limit", "since", "channel", "full"])]
    pub(crate) event: Option<String>,
    /// Keep printing new events; with --json, one JSON object per line
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Number of the latest events to show [default: 10; all with --since]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only events of this time and later: 90s, 30m or 1h ago, or 2026-01-31T12:00:00Z, 2026-01-31 or epoch
    /// milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only this channel, such as $errors
    #[arg(long, value_name = "NAME", value_parser = channel::named)]
    pub(crate) channel: Option<String>,
    /// Show each event's id, summary and whole data
    #[arg(long)]
    pub(crate) full: bool,
    /// POST the event to this URL once, unsigned, and show the answer
    #[arg(long, value_name = "URL", requires = "event")]
    pub(crate) send_to: Option<String>,
}
