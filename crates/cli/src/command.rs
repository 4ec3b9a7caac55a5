//! The commands, one module each: the requests to the node, and the display of the answers. This file
//! only dispatches.

mod accounts;
mod activity;
mod apps;
mod attempt;
mod audit;
pub(crate) mod completions;
mod components;
pub(crate) mod configuration;
mod data_stores;
mod delete;
mod deliveries;
mod deploy;
mod deployments;
mod describe;
mod dev;
mod doctor;
mod events;
mod import;
pub(crate) mod init;
mod keys;
mod list;
mod listen;
pub(crate) mod login;
mod logs;
pub(crate) mod man;
pub(crate) mod mcp;
mod new_files;
mod nodes;
mod open;
mod open_lines;
pub(crate) mod openapi;
mod outcome;
pub(crate) mod profiles;
mod publish;
mod replay;
mod replayed;
mod run;
mod run_action;
mod runs;
mod save;
mod search;
mod show;
mod starting;
mod stream;
mod subscriptions;
mod trial;
mod update;
mod usage;
mod users;
mod variables;
mod webhooks;
pub(crate) mod workflows;
mod workspaces;

use anyhow::Result;

use crate::arguments::{ClientCommand, ListSourcesArguments, ListWhat};
use crate::exit::Exit;
use crate::session::Session;

/// Runs a command that talks to a node.
pub(crate) async fn run(session: &Session, command: ClientCommand) -> Result<Exit> {
    match command {
        ClientCommand::Deploy(arguments) => deploy::run(session, arguments).await,
        ClientCommand::Update(arguments) => update::run(session, arguments).await,
        ClientCommand::Deployments(arguments) => deployments::run(session, arguments).await,
        ClientCommand::RollBack(arguments) => deployments::roll_back(session, &arguments).await,
        ClientCommand::Delete(arguments) => delete::run(session, &arguments).await,
        ClientCommand::List(arguments) => match arguments.what {
            None => list::run(session, &ListSourcesArguments::default()).await,
            Some(ListWhat::Sources(arguments)) => list::run(session, &arguments).await,
            Some(ListWhat::Components(arguments)) => components::run(session, arguments).await,
        },
        ClientCommand::Search(arguments) => search::run(session, arguments).await,
        ClientCommand::Publish(arguments) => publish::run(session, &arguments).await,
        ClientCommand::Import(arguments) => import::run(session, &arguments).await,
        ClientCommand::Describe(arguments) => describe::run(session, &arguments).await,
        ClientCommand::Events(arguments) => events::run(session, &arguments).await,
        ClientCommand::Replay(arguments) => replay::run(session, &arguments).await,
        ClientCommand::Listen(arguments) => listen::run(session, &arguments).await,
        ClientCommand::Logs(arguments) => logs::run(session, &arguments).await,
        ClientCommand::Runs(arguments) => runs::run(session, *arguments).await,
        ClientCommand::Run(arguments) => run::run(session, &arguments).await,
        ClientCommand::Dev(arguments) if arguments.file.is_dir() => {
            workflows::dev(session, &arguments).await
        }
        ClientCommand::Dev(arguments) => dev::run(session, arguments).await,
        ClientCommand::RunAction(arguments) => run_action::run(session, arguments).await,
        ClientCommand::Try(arguments) => trial::run(session, arguments).await,
        ClientCommand::Pause(arguments) => activity::run(session, &arguments.source, false).await,
        ClientCommand::Resume(arguments) => activity::run(session, &arguments.source, true).await,
        ClientCommand::Apps(arguments) => apps::run(session, arguments).await,
        ClientCommand::Accounts(arguments) => accounts::run(session, arguments).await,
        ClientCommand::DataStores(arguments) => data_stores::run(session, arguments).await,
        ClientCommand::Variables(arguments) => variables::run(session, arguments).await,
        ClientCommand::Webhooks(arguments) => webhooks::run(session, arguments).await,
        ClientCommand::Deliveries(arguments) => deliveries::run(session, arguments).await,
        ClientCommand::Subscriptions(arguments) => subscriptions::run(session, arguments).await,
        ClientCommand::Users(arguments) => users::run(session, arguments).await,
        ClientCommand::Workspaces(arguments) => workspaces::run(session, arguments).await,
        ClientCommand::Keys(arguments) => keys::run(session, arguments).await,
        ClientCommand::Nodes(arguments) => nodes::run(session, arguments).await,
        ClientCommand::Usage(arguments) => usage::run(session, &arguments).await,
        ClientCommand::Audit(arguments) => audit::run(session, &arguments).await,
        ClientCommand::Open(arguments) => open::run(session, &arguments).await,
        ClientCommand::Doctor(arguments) => doctor::run(session, &arguments).await,
    }
}
