//! The command line of `runs`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct RunsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME", required = true)]
    pub(crate) source: Option<String>,
    #[command(flatten)]
    pub(crate) filter: RunsFilter,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs of all sources and workflows, or of one, newest first, whether they have ended or not
    List(ListRunsArguments),
    /// Show a run with its events, their deliveries, its log and its errors; of a workflow, with its steps and waits
    Describe(RunArgument),
    /// Do a run again, on the code of now; with --same on that of then, of a source as a trial whose events go nowhere
    Replay(ReplayOneRunArguments),
    /// Cancel a run that has not ended: of a source with its worker, of a workflow once the steps at work have ended
    Cancel(RunArgument),
}

#[derive(Debug, Args)]
pub(crate) struct ListRunsArguments {
    /// Source: its id, name or name slug. Or a workflow, also by its deployed folder [default: all of them]
    #[arg(value_name = "SOURCE_OR_WORKFLOW")]
    pub(crate) source: Option<String>,
    /// Only those in these states, separated by commas: open, succeeded, failed, cancelled, or an outcome such as threw or
    /// wall_limit
    #[arg(long, value_name = "STATES")]
    pub(crate) status: Option<String>,
    /// Only those with this cause
    #[arg(long, value_parser = [
        "timer", "http", "manual", "event", "email", "call", "replay", "deploy", "activate", "deactivate",
    ])]
    pub(crate) trigger: Option<String>,
    /// Only those queued within this time, such as 90s, 30m or 1h, or since 2026-01-31T12:00:00Z, 2026-01-31 or epoch
    /// milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only those queued until then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only those that took so many milliseconds or more
    #[arg(long, value_name = "MS")]
    pub(crate) min_ms: Option<u32>,
    /// Only those with an error whose first line has this text
    #[arg(short = 'q', long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Only those that this request caused, or that are part of this trace: the id of either
    #[arg(long, value_name = "ID")]
    pub(crate) origin: Option<String>,
    /// Number of the latest runs to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgument {
    /// Run: its id
    #[arg(value_name = "ID")]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayOneRunArguments {
    /// Run: its id
    #[arg(value_name = "ID")]
    pub(crate) run: String,
    /// Follow the code and the values that the run had. A source only tries them, with a copy of its key-value map
    #[arg(long)]
    pub(crate) same: bool,
    /// Event of a source's run, where the node does not know it: JSON, @FILE, or @- for standard input
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) event: Option<String>,
    /// Tell what would be done, and start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunsFilter {
    /// Only those that failed; short for --outcome failed
    #[arg(long, conflicts_with = "outcome")]
    pub(crate) failed: bool,
    /// Only those that ended in this way
    #[arg(long)]
    pub(crate) outcome: Option<RunOutcome>,
    /// Only those with this cause
    #[arg(long)]
    pub(crate) trigger: Option<RunTrigger>,
    /// Only those that started within this time, such as 90s, 30m or 1h, or since 2026-01-31T12:00:00Z, 2026-01-31
    /// or epoch milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Number of the latest runs to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

impl RunsFilter {
    /// Whether it leaves any run out.
    pub(crate) fn is_any(&self) -> bool {
        self.failed || self.outcome.is_some() || self.trigger.is_some() || self.since.is_some()
    }
}

/// As the API names them.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum RunOutcome {
    Failed,
    Succeeded,
    Returned,
    Threw,
    WallLimit,
    MemoryLimit,
    OutputLimit,
    Lost,
    Cancelled,
}

/// As the API names them.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RunTrigger {
    Timer,
    Http,
    Manual,
    Event,
    Deploy,
    Activate,
    Deactivate,
}
