//! The command line: every subcommand, flag and environment variable, with the text of `--help`.
//! Nothing here acts; values that depend on a component (props) stay text until it is known.

#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::bare_urls,
    reason = "doc comments of arguments are help texts, in which markup would show"
)]

mod accounts;
mod audit;
mod channel;
mod confirmed;
mod data_stores;
mod deliveries;
mod deployments;
mod developing;
mod events;
mod examples;
mod global;
mod import;
mod listen;
mod nodes;
mod operating;
mod profiles;
mod props;
mod replay;
mod runs;
mod search;
mod service;
mod store;
mod tenants;
mod usage;
mod variables;
mod webhooks;
mod workflows;

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

pub(crate) use self::accounts::{
    AccountsArguments, AccountsCommand, AddAccountArguments, ConnectAccountArguments,
    ListAccountsArguments,
};
pub(crate) use self::audit::AuditArguments;
use self::confirmed::Confirmed;
pub(crate) use self::data_stores::{DataStoresArguments, DataStoresCommand};
pub(crate) use self::deliveries::{
    ChangeDeliveriesArguments, DeliveriesArguments, DeliveriesCommand, DeliveriesFilter,
    DiscardDeliveriesArguments, ListDeliveriesArguments,
};
pub(crate) use self::deployments::{DeploymentArguments, DeploymentsArguments, DeploymentsCommand};
pub(crate) use self::developing::{
    DevArguments, InitArguments, InitKind, RunActionArguments, TryArguments,
};
pub(crate) use self::events::EventsArguments;
pub(crate) use self::global::{DEFAULT_DATA_DIR, DEFAULT_URL, Global, OutputFormat};
pub(crate) use self::import::ImportArguments;
pub(crate) use self::listen::ListenArguments;
pub(crate) use self::nodes::{NodesArguments, NodesCommand};
pub(crate) use self::operating::{BackupArguments, DoctorArguments, RestoreArguments};
pub(crate) use self::profiles::{ProfilesArguments, ProfilesCommand};
pub(crate) use self::props::PropArguments;
pub(crate) use self::replay::ReplayEventsArguments;
pub(crate) use self::runs::{
    ListRunsArguments, ReplayOneRunArguments, RunsArguments, RunsCommand, RunsFilter,
};
pub(crate) use self::search::SearchArguments;
pub(crate) use self::service::{
    InstallServiceArguments, ServiceArguments, ServiceCommand, UninstallServiceArguments,
    UnitArguments,
};
pub(crate) use self::store::{CopyStoreArguments, StoreArguments, StoreCommand};
pub(crate) use self::tenants::{
    CreateWorkspaceArguments, KeysArguments, KeysCommand, MemberArguments, MembersCommand,
    RemoveMemberArguments, UsersArguments, UsersCommand, WorkspacesArguments, WorkspacesCommand,
};
pub(crate) use self::usage::{UsageArguments, UsageBy};
pub(crate) use self::variables::{VariablesArguments, VariablesCommand};
pub(crate) use self::webhooks::{
    CreateWebhookArguments, DeleteSubscriptionArguments, ReplayArguments, RotateSecretArguments,
    SubscriptionArguments, SubscriptionsArguments, SubscriptionsCommand, UpdateWebhookArguments,
    VerifyArguments, WebhookOrdering, WebhooksArguments, WebhooksCommand,
};
pub(crate) use self::workflows::{
    CheckWorkflowArguments, DeleteWorkflowArguments, EndedStatus, ImportWorkflowsArguments,
    InitWorkflowArguments, ReplayRunArguments, ResumeRunArguments, RunWorkflowArguments,
    TestWorkflowArguments, WorkflowRunStatus, WorkflowRunsArguments, WorkflowsArguments,
    WorkflowsClientCommand, WorkflowsCommand,
};
pub(crate) use crate::serve::arguments::ServeArguments;
use crate::serve::help;

#[derive(Debug, Parser)]
#[command(
    name = "headwater",
    version,
    about = "Runs event sources: start a node, or work with a running one",
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a node
    Serve(Box<ServeArguments>),
    #[command(flatten)]
    Client(ClientCommand),
    /// Workflows: steps that triggers run, in a folder with a `workflow.yaml`
    Workflows(Box<WorkflowsArguments>),
    /// Create a starter component and a test for it in this folder
    Init(InitArguments),
    /// Keep a node's address and an API key as a profile, for commands in every folder
    Login(LoginArguments),
    /// Forget a profile
    Logout,
    /// Profiles of `login`: list them, choose the current one
    Profiles(ProfilesArguments),
    /// Give an assistant tools to work with the node, over standard input and output (MCP)
    Mcp(McpArguments),
    /// Write a copy of a node's data folder into a file, while the node runs or not
    ///
    /// Reads the folder of --data-dir: the embedded store as it is at one moment, checked, and the files beside it.
    Backup(BackupArguments),
    /// Unpack a backup into a new data folder
    Restore(RestoreArguments),
    /// The store of a node that does not run
    Store(StoreArguments),
    /// Run a node as a service of systemd: write, print or remove its unit
    Service(ServiceArguments),
    /// Show where the JavaScript runtime is, installing it if it is missing
    Runtime(RuntimeArguments),
    /// Print the OpenAPI document of this version
    #[command(hide = true)]
    Openapi,
    /// Print the guide's page about the options of `serve`
    #[command(hide = true)]
    Configuration,
    /// Print a shell's completion script
    Completions(CompletionsArguments),
    /// Write a manual page for each command into a folder
    Man(ManArguments),
}

/// The command line as it is parsed and explained: with examples.
pub(crate) fn command() -> clap::Command {
    help::explain(examples::add(Cli::command()))
}

#[derive(Debug, Args)]
pub(crate) struct LoginArguments {
    /// Address of the node [default: that of --url, or http://127.0.0.1:3000]
    #[arg(value_name = "NODE_URL")]
    pub(crate) node: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Folder for the pages; it is created if it is missing
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RuntimeArguments {
    #[command(subcommand)]
    pub(crate) action: Option<RuntimeAction>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum RuntimeAction {
    /// Fetch Deno and the bundler, for a node without internet access
    Install,
}

/// The commands that talk to a node.
#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Deploy a component as a new source
    Deploy(DeployArguments),
    /// Change a source's code, name or props
    Update(UpdateArguments),
    /// List the deployments of a source or workflow, newest first: the code that it ran with
    Deployments(DeploymentsArguments),
    /// Let a source or workflow run the code of a former deployment again
    RollBack(DeploymentArguments),
    /// Delete a source
    Delete(DeleteArguments),
    /// List sources, or the components that can be deployed
    List(ListArguments),
    /// Find components, on the node and in npm packages, and the command to deploy or run each
    Search(SearchArguments),
    /// Publish components to the node's registry, where all users can deploy them by key
    Publish(PublishArguments),
    /// Copy sources, webhooks and subscriptions from Pipedream or another node
    Import(ImportArguments),
    /// Show a source or a saved component
    Describe(DescribeArguments),
    /// Show the events of a source or workflow, oldest first, or one of them whole
    Events(EventsArguments),
    /// Send events again to the webhooks, sources and workflows that listen
    Replay(ReplayEventsArguments),
    /// Send a source's events to a server on this machine, signed as a webhook gets them
    Listen(ListenArguments),
    /// Show a source's logs and the errors of its runs, oldest first
    Logs(LogsArguments),
    /// List a source's runs, newest first, with cause, outcome and number of events
    Runs(Box<RunsArguments>),
    /// Run a source once and show the result
    Run(RunArguments),
    /// Deploy a source from a file, or a workflow from its folder, and again on every save
    Dev(DevArguments),
    /// Run an action once and show the result
    RunAction(RunActionArguments),
    /// Run a source's code once without deploying it, and show the events that it emitted
    Try(TryArguments),
    /// Pause a source: its timers and endpoints stop
    Pause(SourceArgument),
    /// Activate a paused source
    Resume(SourceArgument),
    /// List the apps whose accounts the node can connect
    Apps(AppsArguments),
    /// Accounts of third-party apps, for app props
    Accounts(AccountsArguments),
    /// Data stores: key-value stores that components share by name
    DataStores(DataStoresArguments),
    /// Variables of workflows: text such as keys and addresses, stored encrypted
    Variables(VariablesArguments),
    /// Webhooks: URLs that events are delivered to
    Webhooks(WebhooksArguments),
    /// Deliveries to webhooks: list, show, retry, discard
    Deliveries(DeliveriesArguments),
    /// Subscriptions: send events of sources and workflows to webhooks, sources and workflows
    Subscriptions(SubscriptionsArguments),
    /// Users of the node (administrator only)
    Users(UsersArguments),
    /// Workspaces that several users share
    Workspaces(WorkspacesArguments),
    /// API keys
    Keys(KeysArguments),
    /// Nodes on one database (administrator only): list, drain
    Nodes(NodesArguments),
    /// Usage: runs and the time of their code, by day or by source, and the quota of today
    Usage(UsageArguments),
    /// Audit records: who did what, when, newest first
    Audit(AuditArguments),
    /// Open the web UI in a browser, signed in
    Open(OpenArguments),
    /// Check the node and the connection to it
    Doctor(DoctorArguments),
}

#[derive(Debug, Args)]
pub(crate) struct OpenArguments {
    /// Print the link instead of opening a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SourceArgument {
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) source: String,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArguments {
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) confirmed: Confirmed,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(subcommand)]
    pub(crate) what: Option<ListWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ListWhat {
    /// Sources (the default)
    // As Pipedream's program calls them, too.
    #[command(aliases = ["streams", "so", "st"])]
    Sources(ListSourcesArguments),
    /// Published components and your own, with the newest version of each key
    Components(ComponentsArguments),
}

#[derive(Debug, Default, Args)]
pub(crate) struct ListSourcesArguments {
    /// Words of the name, in any case
    pub(crate) words: Vec<String>,
    /// Only those that run on their triggers, that do not, whose newest run has failed, or that run and have not failed
    #[arg(long, value_parser = ["active", "paused", "failing", "ok"])]
    pub(crate) state: Option<String>,
    /// Only those with a timer, with an HTTP endpoint, or with neither
    #[arg(long, value_parser = ["timer", "http", "neither"])]
    pub(crate) trigger: Option<String>,
    /// Only those whose component connects to this app
    #[arg(long)]
    pub(crate) app: Option<String>,
    /// Only those of the component with this key
    #[arg(long, value_name = "KEY")]
    pub(crate) component: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ComponentsArguments {
    /// Words to search for in key, name and description
    pub(crate) words: Vec<String>,
    /// Only components of this app, by its name slug
    #[arg(long, value_name = "APP")]
    pub(crate) app: Option<String>,
    /// Only sources, or only actions
    #[arg(long = "type", value_parser = ["source", "action"])]
    pub(crate) component_type: Option<String>,
    /// Maximum number to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArguments {
    /// Component: a file, a URL or npm:PACKAGE[@VERSION]/path; or a folder or npm:PACKAGE[@VERSION],
    /// for all its components
    #[arg(value_name = "FILE|DIR|URL|npm:PACKAGE[/PATH]")]
    pub(crate) components: String,
    /// Build each component of a folder when it is used first, not now [default: with more than 100
    /// components]
    #[arg(long)]
    pub(crate) unbuilt: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeployArguments {
    /// Component: a file, a URL, npm:PACKAGE[@VERSION]/path/in/the/package.mjs, or the key or id of a
    /// saved component
    #[arg(value_name = "FILE|URL|npm:PACKAGE/PATH|KEY[@VERSION]")]
    pub(crate) component: String,
    /// Name of the source [default: the component's name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Give the source a worker process of its own
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Deploy a source that nothing here can start but a run by hand: its events go to Pipedream's servers
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Run the source once, right after it is deployed, and show the result
    #[arg(long)]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) props: PropArguments,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArguments {
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) source: String,
    /// New code: a file, a URL, npm:PACKAGE[@VERSION]/path or a key [default: the present code]
    #[arg(value_name = "COMPONENT")]
    pub(crate) component: Option<String>,
    /// New name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Set new code that nothing here can start but a run by hand: its events go to Pipedream's servers
    #[arg(long, requires = "component")]
    pub(crate) anyway: bool,
    /// Give the source a worker process of its own, or with `=false` let it share one again
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) isolated: Option<bool>,
    #[command(flatten)]
    pub(crate) props: PropArguments,
    /// Move the source's packages to the latest versions that its code allows
    #[arg(long, conflicts_with = "component")]
    pub(crate) refresh_deps: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// Source (id, name or name slug) or saved component (id or key)
    #[arg(value_name = "ID_OR_NAME_OR_COMPONENT")]
    pub(crate) subject: String,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArguments {
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) source: String,
    /// Keep printing new lines; with --json, one JSON object per line
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Number of the latest lines to show [default: 50; all with --since]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only lines of this time and later: 90s, 30m or 1h ago, or 2026-01-31T12:00:00Z, 2026-01-31 or epoch
    /// milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// With --json: errors of runs too, which have `$errors` as `metadata.name`; lines show them anyway
    #[arg(long)]
    pub(crate) errors: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Source: its id, name or name slug
    #[arg(value_name = "ID_OR_NAME")]
    pub(crate) source: String,
    /// Event for `run`: JSON, @FILE, or @- for standard input
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) event: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AppsArguments {
    /// Part of the app's name or slug
    pub(crate) query: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Key of an action to offer as a tool of its own, with typed inputs (repeatable)
    #[arg(long, value_name = "KEY")]
    pub(crate) action: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell to complete for
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_are_taken_after_the_subcommand() {
        let cli = Cli::parse_from(["headwater", "list", "--json", "--url", "http://node:1"]);
        assert!(cli.global.json);
        assert_eq!(cli.global.url.as_deref(), Some("http://node:1"));
    }
}
