//! `workspaces`: creates, lists and shows workspaces, and manages their members.

use anyhow::Result;
use serde_json::{Value, json};

use super::users;
use crate::arguments::{
    CreateWorkspaceArguments, MemberArguments, MembersCommand, RemoveMemberArguments,
    WorkspacesArguments, WorkspacesCommand,
};
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::tenant;

pub(super) async fn run(session: &Session, arguments: WorkspacesArguments) -> Result<Exit> {
    match arguments.command {
        WorkspacesCommand::Create(arguments) => create(session, arguments).await?,
        WorkspacesCommand::List => list(session).await?,
        WorkspacesCommand::Describe { workspace } => describe(session, &workspace).await?,
        WorkspacesCommand::Members { command } => match command {
            MembersCommand::List { workspace } => members(session, &workspace).await?,
            MembersCommand::Add(arguments) => add(session, &arguments).await?,
            MembersCommand::Remove(arguments) => remove(session, &arguments).await?,
        },
    }
    Ok(Exit::Success)
}

async fn create(session: &Session, arguments: CreateWorkspaceArguments) -> Result<()> {
    let mut body = json!({"orgname": arguments.orgname});
    for (field, value) in [("name", arguments.name), ("email", arguments.email)] {
        if let Some(value) = value {
            body[field] = value.into();
        }
    }
    let workspace = session.client.post(&["workspaces"], &body).await?;
    session.print(&workspace, |workspace| {
        listing(std::slice::from_ref(workspace))
    })
}

async fn list(session: &Session) -> Result<()> {
    let workspaces = session.client.list(&["workspaces"]).await?;
    if workspaces.is_empty() && !session.json {
        output::tell("no workspaces yet; create one with `headwater workspaces create ORGNAME`");
        return Ok(());
    }
    session.print(&Value::from(workspaces.clone()), |_| listing(&workspaces))
}

async fn describe(session: &Session, id_or_orgname: &str) -> Result<()> {
    let id = tenant::workspace_id(&session.client, id_or_orgname).await?;
    let workspace = session.client.get(&["workspaces", &id]).await?;
    session.print(&workspace, |workspace| {
        let field = |name: &str, key: &str| (name.to_owned(), text(workspace, key).to_owned());
        table::card(vec![
            field("id", "id"),
            field("orgname", "orgname"),
            field("name", "name"),
            field("email", "email"),
            (
                "credits used today".to_owned(),
                workspace["daily_credits_used"].to_string(),
            ),
        ])
    })
}

async fn members(session: &Session, id_or_orgname: &str) -> Result<()> {
    let id = tenant::workspace_id(&session.client, id_or_orgname).await?;
    let members = session.client.list(&["workspaces", &id, "members"]).await?;
    session.print(&Value::from(members.clone()), |_| users::listing(&members))
}

async fn add(session: &Session, arguments: &MemberArguments) -> Result<()> {
    let id = tenant::workspace_id(&session.client, &arguments.workspace).await?;
    let field = if arguments.user.starts_with("u_") {
        "user_id"
    } else {
        "username"
    };
    let body = json!({field: arguments.user});
    let path = ["workspaces", &id, "members"];
    let user = session.client.post(&path, &body).await?;
    session.print(&user, |user| users::listing(std::slice::from_ref(user)))
}

async fn remove(session: &Session, arguments: &RemoveMemberArguments) -> Result<()> {
    let MemberArguments { workspace, user } = &arguments.member;
    let id = tenant::workspace_id(&session.client, workspace).await?;
    let member = tenant::member_id(&session.client, &id, user).await?;
    let question = format!("Remove {user} from workspace {workspace}?");
    confirm::asked(&question, arguments.confirmed.yes, "nobody was removed")?;
    let path = ["workspaces", &id, "members", &member];
    session.client.delete(&path).await?;
    session.print(&json!({"id": member}), |_| member.clone())?;
    output::tell("removed; things that the member created in the workspace stay there");
    Ok(())
}

fn listing(workspaces: &[Value]) -> table::Listing {
    let rows = workspaces.iter().map(|workspace| {
        vec![
            text(workspace, "id").to_owned(),
            text(workspace, "orgname").to_owned(),
            text(workspace, "name").to_owned(),
            workspace["daily_credits_used"].to_string(),
        ]
    });
    table::listing(&["id", "orgname", "name", "used today"], rows.collect())
}
