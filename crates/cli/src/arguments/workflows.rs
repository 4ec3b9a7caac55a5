//! The command line of `workflows`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, Subcommand, ValueEnum};

use crate::workflow::folder;

#[derive(Debug, Args)]
pub(crate) struct WorkflowsArguments {
    #[command(subcommand)]
    pub(crate) command: WorkflowsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowsCommand {
    /// Create the folder of a workflow that deploys and runs as it is
    Init(InitWorkflowArguments),
    /// Check a workflow's folder, by itself and against the node
    Check(CheckWorkflowArguments),
    /// Run the tests of a workflow, offline: the files in its folder `tests`
    Test(TestWorkflowArguments),
    /// Bring workflows over from Pipedream: a folder for each, and a report of the work that is left
    Import(ImportWorkflowsArguments),
    #[command(flatten)]
    Client(WorkflowsClientCommand),
}

/// The commands about workflows that talk to a node.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowsClientCommand {
    /// Deploy a folder: a new workflow, or the one that its `.workflow.state` names
    Deploy(WorkflowFolderArgument),
    /// Deploy a folder, and again on every save, and show the runs
    Dev(WorkflowFolderArgument),
    /// List the workflows
    List,
    /// Show a workflow with its triggers
    Describe(WorkflowArgument),
    /// List a workflow's runs, newest first
    Runs(WorkflowRunsArguments),
    /// Start a run and print its id
    Run(RunWorkflowArguments),
    /// Run again what has ended, whole or from a step
    Replay(ReplayRunArguments),
    /// Let a run that waits go on
    Resume(ResumeRunArguments),
    /// End a run early
    Cancel(WorkflowRunArgument),
    /// Show the lines that a run's steps have logged, oldest first
    Logs(WorkflowRunArgument),
    /// Switch a workflow's triggers on
    Activate(WorkflowArgument),
    /// Switch a workflow's triggers off: it runs by hand only
    Deactivate(WorkflowArgument),
    /// Delete a workflow with its triggers and runs
    Delete(DeleteWorkflowArguments),
}

#[derive(Debug, Args)]
pub(crate) struct InitWorkflowArguments {
    /// Folder to create
    pub(crate) dir: PathBuf,
    /// Name of the workflow [default: the folder's name]
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckWorkflowArguments {
    /// Folder of the workflow, or the workflow.yaml in it
    #[arg(value_parser = PathBufValueParser::new().map(folder::named))]
    pub(crate) dir: PathBuf,
    /// Tell also what Pipedream would not know
    #[arg(long)]
    pub(crate) pipedream: bool,
    /// Ask no node whether it has the variables, accounts and ways of mail that the workflow needs
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestWorkflowArguments {
    /// Folder of the workflow, or the workflow.yaml in it
    #[arg(value_parser = PathBufValueParser::new().map(folder::named))]
    pub(crate) dir: PathBuf,
    /// Run each test again for each of its commits, with a node that is killed after that commit
    #[arg(long)]
    pub(crate) crash: bool,
    /// Only the test in the file of this name, without `.yaml`
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportWorkflowsArguments {
    /// Checkout of a synced repository, its URL (cloned with `git`), or the archive of an exported project
    #[arg(value_name = "REPO|ZIP")]
    pub(crate) origin: String,
    /// Folder to write the workflows and the report into
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) into: PathBuf,
    /// Deploy each workflow whose folder asks for no more work
    #[arg(long)]
    pub(crate) deploy: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowFolderArgument {
    /// Folder of the workflow, or the workflow.yaml in it
    #[arg(value_parser = PathBufValueParser::new().map(folder::named))]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowArgument {
    /// Workflow: its id, name, name slug or deployed folder
    #[arg(value_name = "ID_OR_NAME_OR_DIR")]
    pub(crate) workflow: String,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteWorkflowArguments {
    /// Workflow: its id, name, name slug or deployed folder
    #[arg(value_name = "ID_OR_NAME_OR_DIR")]
    pub(crate) workflow: String,
    /// Do not ask before deleting; it is asked at a terminal only
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowRunsArguments {
    /// Workflow: its id, name, name slug or deployed folder
    #[arg(value_name = "ID_OR_NAME_OR_DIR")]
    pub(crate) workflow: String,
    /// Only those with this status [default: those that have ended]
    #[arg(long)]
    pub(crate) status: Option<WorkflowRunStatus>,
    /// Number of the latest runs to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

/// As the API names them, and `open` for those that have not ended. Pipedream's words are understood, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkflowRunStatus {
    Open,
    Queued,
    #[value(alias = "executing")]
    Running,
    #[value(alias = "paused")]
    Waiting,
    #[value(alias = "success")]
    Succeeded,
    #[value(alias = "error")]
    Failed,
    Cancelled,
}

#[derive(Debug, Args)]
pub(crate) struct RunWorkflowArguments {
    /// Workflow: its id, name, name slug or deployed folder
    #[arg(value_name = "ID_OR_NAME_OR_DIR")]
    pub(crate) workflow: String,
    /// Event that the run begins with: JSON, @FILE, or @- for standard input [default: {}]
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) event: Option<String>,
    /// Show the steps as they end, until the run has ended; fails if the run did
    #[arg(long)]
    pub(crate) wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayRunArguments {
    /// Run: its id
    #[arg(
        value_name = "RUN_ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) run: Option<String>,
    /// Every run of a workflow with a status
    #[arg(long, requires = "workflow", requires = "status")]
    pub(crate) all: bool,
    /// Step to begin with, by its path, such as notify.urgent.send; earlier results are used again
    /// [default: everything is done again]
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<String>,
    /// Follow the deployment that the run began with
    #[arg(long, conflicts_with = "latest")]
    pub(crate) same: bool,
    /// Follow the workflow's current deployment (the default)
    #[arg(long)]
    pub(crate) latest: bool,
    /// Tell what would be done, and start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show the steps as they end, until the run has ended; fails if the run did
    #[arg(long, conflicts_with_all = ["all", "dry_run"])]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) several: ReplaySeveralArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReplaySeveralArguments {
    /// With --all: the workflow, by its id, name, name slug or deployed folder
    #[arg(
        long = "workflow",
        value_name = "ID_OR_NAME_OR_DIR",
        conflicts_with = "run"
    )]
    pub(crate) workflow: Option<String>,
    /// With --all: the status of the runs
    #[arg(long, conflicts_with = "run")]
    pub(crate) status: Option<EndedStatus>,
    /// With --all: only runs that ended within this time, such as 90s, 30m or 1h, or since
    /// 2026-01-31T12:00:00Z, 2026-01-31 or epoch milliseconds
    #[arg(long, value_name = "TIME", conflicts_with = "run")]
    pub(crate) since: Option<String>,
    /// With --all: do not ask before starting the runs
    #[arg(short, long, conflicts_with = "run")]
    pub(crate) yes: bool,
}

/// The status of a run that can be replayed. Pipedream's words are understood, too.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EndedStatus {
    #[value(alias = "success")]
    Succeeded,
    #[value(alias = "error")]
    Failed,
    Cancelled,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeRunArguments {
    /// Run: its id
    #[arg(value_name = "RUN_ID")]
    pub(crate) run: String,
    /// Step or block that waits, by its path, if several do
    #[arg(long, value_name = "STEP")]
    pub(crate) path: Option<String>,
    /// Data that the run goes on with: JSON, @FILE, or @- for standard input
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) data: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowRunArgument {
    /// Run: its id
    #[arg(value_name = "RUN_ID")]
    pub(crate) run: String,
}
