//! `workflows`: the commands about workflows, one module each, and the short ones. This file dispatches.

mod answers;
mod check;
mod deploy;
mod dev;
mod import;
mod init;
mod logs;
mod progress;
mod replay;
mod run;
pub(super) mod run_card;
mod runs;
mod show;
mod step;
mod test;

pub(super) use self::show::brief;

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use crate::arguments::{
    DeleteWorkflowArguments, DevArguments, Global, InitWorkflowArguments,
    WorkflowsClientCommand as ClientCommand, WorkflowsCommand,
};
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::usage_error::UsageError;
use crate::workflow;

pub(crate) async fn run(global: &Global, command: WorkflowsCommand) -> Result<Exit> {
    match command {
        WorkflowsCommand::Init(arguments) => init::run(&arguments, global.json),
        WorkflowsCommand::Check(arguments) => check::run(global, &arguments).await,
        WorkflowsCommand::Test(arguments) => Box::pin(test::run(&arguments, global.json)).await,
        WorkflowsCommand::Import(arguments) => import::run(global, &arguments).await,
        WorkflowsCommand::Client(command) => client(&Session::open(global)?, command).await,
    }
}

/// `headwater init workflow`.
pub(super) fn init(name: Option<&str>, as_json: bool) -> Result<Exit> {
    let arguments = InitWorkflowArguments {
        dir: name.unwrap_or("my-workflow").into(),
        name: None,
    };
    init::run(&arguments, as_json)
}

/// `headwater dev` with a folder.
pub(super) async fn dev(session: &Session, arguments: &DevArguments) -> Result<Exit> {
    let props = &arguments.props;
    let has_props = !props.props.is_empty() || props.props_file.is_some();
    if arguments.name.is_some() || has_props || arguments.delete_on_exit {
        let complaint = "--name, --prop, --props-file and --delete-on-exit are for the file of a source; the name and the \
                         props of a workflow are in its workflow.yaml";
        return Err(UsageError(complaint.to_owned()).into());
    }
    dev::run(session, &arguments.file).await
}

async fn client(session: &Session, command: ClientCommand) -> Result<Exit> {
    match command {
        ClientCommand::Deploy(arguments) => deploy::run(session, &arguments.dir).await,
        ClientCommand::Dev(arguments) => dev::run(session, &arguments.dir).await,
        ClientCommand::List => list(session).await,
        ClientCommand::Describe(arguments) => describe(session, &arguments.workflow).await,
        ClientCommand::Runs(arguments) => runs::run(session, &arguments).await,
        ClientCommand::Run(arguments) => run::run(session, &arguments).await,
        ClientCommand::Replay(arguments) => replay::run(session, &arguments).await,
        ClientCommand::Resume(arguments) => answers::resume(session, &arguments).await,
        ClientCommand::Cancel(arguments) => answers::cancel(session, &arguments.run).await,
        ClientCommand::Logs(arguments) => logs::run(session, &arguments.run).await,
        ClientCommand::Activate(arguments) => switch(session, &arguments.workflow, true).await,
        ClientCommand::Deactivate(arguments) => switch(session, &arguments.workflow, false).await,
        ClientCommand::Delete(arguments) => delete(session, &arguments).await,
    }
}

async fn list(session: &Session) -> Result<Exit> {
    let mut query = session.client.scope().await?;
    query.push(with_health());
    let workflows = session.client.first(&["workflows"], usize::MAX, &query);
    let workflows = workflows.await?.data;
    if workflows.is_empty() && !session.json {
        output::tell(
            "no workflows yet; create one with `headwater workflows init DIR`, and deploy it with `headwater workflows \
             deploy DIR`",
        );
        return Ok(Exit::Success);
    }
    session.print(&Value::from(workflows.clone()), |_| {
        show::listing(&workflows)
    })?;
    Ok(Exit::Success)
}

async fn describe(session: &Session, given: &str) -> Result<Exit> {
    let id = workflow::find_id(&session.client, given).await?;
    let path = ["workflows", &*id];
    let workflow = session.client.get_data(&path, &[with_health()]).await?;
    session.print(&workflow, show::full)?;
    Ok(Exit::Success)
}

/// The parameter by which the API adds the newest run and the next tick.
fn with_health() -> (&'static str, String) {
    ("expand", "health".to_owned())
}

/// Switches the triggers of a workflow on or off.
async fn switch(session: &Session, given: &str, is_active: bool) -> Result<Exit> {
    let id = workflow::find_id(&session.client, given).await?;
    let (path, body) = (["workflows", id.as_str()], json!({"active": is_active}));
    let workflow = session.client.send(Method::PATCH, &path, &body).await?;
    session.print(&workflow, show::brief)?;
    output::tell(match is_active {
        true => {
            "its triggers are on; if its workflow.yaml has `inactive: true`, take that out, or the next deployment switches them off"
        }
        false => {
            "its triggers are off until it is activated or deployed; `headwater workflows run` starts runs by hand"
        }
    });
    Ok(Exit::Success)
}

async fn delete(session: &Session, arguments: &DeleteWorkflowArguments) -> Result<Exit> {
    let id = workflow::find_id(&session.client, &arguments.workflow).await?;
    let question = format!(
        "Delete {} with its triggers and runs, also those that have not ended?",
        arguments.workflow
    );
    confirm::deletion(&question, arguments.yes)?;
    session.client.delete(&["workflows", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    output::tell("deleted");
    Ok(Exit::Success)
}
