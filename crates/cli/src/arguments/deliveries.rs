//! The command line of `deliveries`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct DeliveriesArguments {
    #[command(subcommand)]
    pub(crate) command: DeliveriesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeliveriesCommand {
    /// List deliveries, newest first: those to one webhook, or to all
    List(ListDeliveriesArguments),
    /// Show a delivery with its attempts
    Describe(DeliveryArgument),
    /// Retry a delivery now, or many; one that had ended starts its retry schedule again
    Retry(ChangeDeliveriesArguments),
    /// Give up a pending or dead delivery, or many; only a retry brings them back
    Discard(DiscardDeliveriesArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DiscardDeliveriesArguments {
    #[command(flatten)]
    pub(crate) change: ChangeDeliveriesArguments,
    /// With --all: do not ask first; it is asked at a terminal only
    #[arg(short, long, requires = "all")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListDeliveriesArguments {
    /// Webhook: its id or name [default: all webhooks]
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) webhook: Option<String>,
    #[command(flatten)]
    pub(crate) filter: DeliveriesFilter,
    /// Number of the latest deliveries to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeDeliveriesArguments {
    /// Delivery: its id
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        // A flag that requires `--all` is let through where that conflicts.
        conflicts_with_all = [
            "all", "webhook", "state", "source", "event", "status", "since", "until", "query", "dry_run",
        ]
    )]
    pub(crate) delivery: Option<String>,
    /// All deliveries that the other flags describe; dead ones without --state
    #[arg(long)]
    pub(crate) all: bool,
    /// Only those to this webhook: its id or name
    #[arg(long, value_name = "ID_OR_NAME", requires = "all")]
    pub(crate) webhook: Option<String>,
    #[command(flatten)]
    pub(crate) filter: DeliveriesFilter,
    /// Count them, and change nothing
    #[arg(long, requires = "all")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeliveriesFilter {
    /// Only deliveries in these states, separated by commas
    #[arg(long, value_name = "STATES", value_delimiter = ',')]
    pub(crate) state: Vec<DeliveryState>,
    /// Only those of events of this source: its id or name
    #[arg(long, value_name = "ID_OR_NAME")]
    pub(crate) source: Option<String>,
    /// Only those of this event: its id
    #[arg(long, value_name = "ID")]
    pub(crate) event: Option<String>,
    /// Only those whose last attempt ended so: 4xx or another class, or dns, refused, tls, timeout, blocked, broken
    #[arg(long, value_name = "RESULT")]
    pub(crate) status: Option<String>,
    /// Only those dispatched within this time, such as 90s, 30m or 1h, or since 2026-01-31T12:00:00Z, 2026-01-31 or epoch
    /// milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only those dispatched until then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only those whose event or its summary has all of these words, in any case
    #[arg(short = 'q', long, value_name = "WORDS")]
    pub(crate) query: Option<String>,
}

/// As the API names them.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DeliveryState {
    Pending,
    Delivered,
    Dead,
    Discarded,
}

#[derive(Debug, Args)]
pub(crate) struct DeliveryArgument {
    /// Delivery: its id
    #[arg(value_name = "ID")]
    pub(crate) delivery: String,
}
