//! The `headwater` binary: parses the command line, runs one command and turns its result into an exit
//! code. The commands live in `command/`; this file only dispatches.

#![warn(clippy::wildcard_enum_match_arm)]

mod account;
mod arguments;
mod at_file;
mod bundle;
mod client;
mod command;
mod completion;
mod confirm;
mod connect;
mod display;
mod exit;
mod follow;
mod launcher;
mod output;
mod own_file;
mod package;
mod paint;
mod profile;
mod prop;
mod question;
mod reference;
mod runtime;
mod secret;
mod serve;
mod service;
mod session;
mod shell;
mod source;
mod stamp;
mod table;
mod tenant;
mod timestamp;
mod usage;
mod usage_error;
mod waiting;
mod webhook;
mod workflow;
mod wrap;

use anyhow::Context as _;
use clap::FromArgMatches as _;

use crate::arguments::{
    Cli, ClientCommand, Command, KeysArguments, KeysCommand, StoreArguments, StoreCommand,
};
use crate::exit::Exit;
use crate::session::Session;

fn main() -> std::process::ExitCode {
    if let Some(launched) = launcher::launch_if_asked() {
        return launched;
    }
    completion::complete_if_asked();
    let parsed = arguments::command().try_get_matches();
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage::report(error).into(),
    };
    display::start(cli.global.json, cli.global.output.as_ref());
    let ended = start(cli);
    if ended.is_ok() && table::lacks_columns() {
        output::tell("note: -o with columns is for tables, and this command shows none");
    }
    exit::report(ended).into()
}

fn start(cli: Cli) -> anyhow::Result<Exit> {
    // Fails only when a provider is installed already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    if let Some(file) = &cli.global.ca_file {
        client::trust(file)?;
    }
    runtime.block_on(run(cli))
}

/// The one place that tells commands with a node to talk to from those without.
async fn run(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Client(ClientCommand::Keys(KeysArguments {
            command: KeysCommand::Reset { database_url },
        })) => serve::reset_admin_key(&cli.global, database_url.as_deref()).await,
        Command::Client(command) => {
            Box::pin(command::run(&Session::open(&cli.global)?, command)).await
        }
        Command::Workflows(arguments) => {
            command::workflows::run(&cli.global, arguments.command).await
        }
        Command::Serve(arguments) => serve::run(&cli.global, *arguments).await,
        Command::Mcp(arguments) => command::mcp::run(Session::open(&cli.global)?, arguments).await,
        Command::Backup(arguments) => {
            let work = format!("backing up {}", cli.global.data_dir.display());
            waiting::busy(&work, move || serve::back_up(&cli.global, &arguments)).await
        }
        Command::Restore(arguments) => {
            let work = format!("restoring {}", arguments.file.display());
            waiting::busy(&work, move || serve::restore(&cli.global, &arguments)).await
        }
        Command::Store(StoreArguments {
            command: StoreCommand::Copy(arguments),
        }) => serve::copy_store(&cli.global, &arguments).await,
        Command::Service(arguments) => service::run(&cli.global, &arguments),
        Command::Init(arguments) => command::init::run(&arguments, cli.global.json),
        Command::Runtime(arguments) => runtime::run(arguments.action, cli.global.json).await,
        Command::Configuration => command::configuration::run(),
        Command::Openapi => command::openapi::run(),
        Command::Login(arguments) => command::login::run(&cli.global, &arguments).await,
        Command::Logout => command::login::forget(&cli.global),
        Command::Profiles(arguments) => command::profiles::run(&cli.global, arguments),
        Command::Man(arguments) => command::man::run(&arguments),
        Command::Completions(arguments) => command::completions::run(&arguments),
    }
}
