//! `accounts`: stores, connects, renames, checks, lists and deletes the accounts of third-party apps. Credentials go to the
//! node and are shown to nobody again.

mod fields;

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::data_stores::props;
use crate::account;
use crate::arguments::{
    AccountsArguments, AccountsCommand, AddAccountArguments, ConnectAccountArguments,
    ListAccountsArguments,
};
use crate::confirm;
use crate::connect;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;

pub(super) async fn run(session: &Session, arguments: AccountsArguments) -> Result<Exit> {
    match arguments.command {
        AccountsCommand::Add(arguments) => add(session, arguments).await?,
        AccountsCommand::Connect(arguments) => connect(session, arguments).await?,
        AccountsCommand::Reconnect {
            account,
            no_browser,
        } => reconnect(session, &account, no_browser).await?,
        AccountsCommand::Update { account, fields } => update(session, &account, &fields).await?,
        AccountsCommand::Rename { account, name } => rename(session, &account, &name).await?,
        AccountsCommand::Check { account } => return check(session, &account).await,
        AccountsCommand::List(arguments) => list(session, &arguments).await?,
        AccountsCommand::Users { account } => list_users(session, &account).await?,
        AccountsCommand::Delete { account, confirmed } => {
            delete(session, &account, confirmed.yes).await?;
        }
    }
    Ok(Exit::Success)
}

async fn add(session: &Session, arguments: AddAccountArguments) -> Result<()> {
    // Nobody types a secret for a node that is away.
    if arguments.fields.iter().any(|field| !field.contains('=')) {
        session.client.get(&["users", "me"]).await?;
    }
    let fields = match arguments.fields.is_empty() {
        true => fields::ask(&session.client, &arguments.app).await?,
        false => fields::read(&arguments.fields)?,
    };
    let mut body = json!({"app": arguments.app, "fields": fields});
    if let Some(name) = arguments.name {
        body["name"] = name.into();
    }
    let account = session.client.post_scoped(&["accounts"], body).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))
}

async fn connect(session: &Session, arguments: ConnectAccountArguments) -> Result<()> {
    let fields = fields::read(&arguments.fields)?;
    let mut body = json!({"app": arguments.app, "fields": fields});
    if let Some(name) = arguments.name {
        body["name"] = name.into();
    }
    let link = session.client.post_scoped(&["accounts", "connect"], body);
    let account = connect::follow(&session.client, &link.await?, arguments.no_browser).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))
}

async fn reconnect(session: &Session, id_or_name: &str, no_browser: bool) -> Result<()> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    let path = ["accounts", &id, "connect"];
    let link = session.client.post(&path, &json!({})).await?;
    let account = connect::follow(&session.client, &link, no_browser).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))
}

async fn update(session: &Session, id_or_name: &str, given: &[String]) -> Result<()> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    let (path, body) = (["accounts", &id], json!({"fields": fields::read(given)?}));
    let account = session.client.send(Method::PATCH, &path, &body).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))
}

async fn rename(session: &Session, id_or_name: &str, name: &str) -> Result<()> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    let (path, body) = (["accounts", &id], json!({"name": name}));
    let account = session.client.send(Method::PATCH, &path, &body).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))
}

/// Fails when the app does not take the credentials, so that scripts can act on it.
async fn check(session: &Session, id_or_name: &str) -> Result<Exit> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    let path = ["accounts", &id, "check"];
    let account = session.client.post(&path, &json!({})).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))?;
    let health = &account["health"];
    if let Some(reason) = health["reason"].as_str() {
        output::tell(reason);
    }
    Ok(match text(health, "status") {
        "refused" | "expired" => Exit::Failure,
        _ => Exit::Success,
    })
}

async fn list(session: &Session, arguments: &ListAccountsArguments) -> Result<()> {
    let mut filter = session.client.scope().await?;
    filter.extend(arguments.app.clone().map(|app| ("app", app)));
    filter.extend(arguments.health.clone().map(|health| ("health", health)));
    let is_filtered = arguments.app.is_some() || arguments.health.is_some();
    let page = session.client.first(&["accounts"], usize::MAX, &filter);
    let accounts = page.await?.data;
    if accounts.is_empty() && !session.json {
        output::tell(match is_filtered {
            true => "no account is like this; `headwater accounts list` shows all",
            false => {
                "no accounts yet; connect one with `headwater accounts connect APP`, or add one with `headwater accounts add APP`"
            }
        });
        return Ok(());
    }
    session.print(&Value::from(accounts.clone()), |_| listing(&accounts))
}

/// The sources and workflows that use an account, with a note if not all were looked at.
async fn users(session: &Session, id: &str) -> Result<Vec<Value>> {
    let path = ["accounts", id, "users"];
    let page = session.client.first(&path, usize::MAX, &[]).await?;
    if page.page_info.is_partial {
        output::note(
            "the first 1,000 sources and 1,000 workflows were looked at; others may use it",
        );
    }
    Ok(page.data)
}

async fn list_users(session: &Session, id_or_name: &str) -> Result<()> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    let users = users(session, &id).await?;
    if users.is_empty() && !session.json {
        output::note("no source and no workflow names it in its props");
        return Ok(());
    }
    let rows = users.iter().map(|user| {
        let id = ["source_id", "workflow_id"].map(|field| text(user, field));
        vec![
            id.concat(),
            text(user, "name").to_owned(),
            props(user),
            timestamp::listed_millis(&user["succeeded_at_ms"]),
        ]
    });
    let listing = table::listing(&["id", "name", "props", "succeeded"], rows.collect());
    session.print(&Value::from(users), |_| listing)
}

async fn delete(session: &Session, id_or_name: &str, yes: bool) -> Result<()> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    let users = match yes {
        true => Vec::new(),
        false => users(session, &id).await?,
    };
    confirm::deletion(&question(id_or_name, &users), yes)?;
    let answer = session.client.delete(&["accounts", &id]).await?;
    let deleted = &answer["data"];
    session.print(deleted, |_| id.clone())?;
    output::tell(match text(deleted, "revocation") {
        "revoked" => "deleted, and its tokens revoked at the app",
        "failed" => "deleted, but the app did not revoke its tokens; revoke them there",
        _ => "deleted",
    });
    Ok(())
}

/// The question whether to delete an account, with the names of what uses it.
fn question(name: &str, users: &[Value]) -> String {
    let names: Vec<_> = users.iter().map(|user| text(user, "name")).collect();
    let uses = match &*names {
        [] => String::new(),
        [only] => format!(" {only} uses it and fails from its next run on."),
        _ => format!(
            " {} use it and fail from their next runs on.",
            names.join(", ")
        ),
    };
    format!("Delete account {name} and revoke its tokens?{uses}")
}

fn listing(accounts: &[Value]) -> table::Listing {
    let rows = accounts.iter().map(|account| {
        vec![
            text(account, "id").to_owned(),
            text(account, "app").to_owned(),
            text(account, "name").to_owned(),
            text(&account["health"], "status").to_owned(),
            timestamp::listed_seconds(&account["created_at"]),
        ]
    });
    table::listing(&["id", "app", "name", "health", "created"], rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_names_what_it_breaks() {
        let users = [json!({"name": "orders"}), json!({"name": "refunds"})];
        for (users, uses) in [
            (&users[..0], ""),
            (
                &users[..1],
                " orders uses it and fails from its next run on.",
            ),
            (
                &users[..],
                " orders, refunds use it and fail from their next runs on.",
            ),
        ] {
            let expected = format!("Delete account work and revoke its tokens?{uses}");
            assert_eq!(question("work", users), expected);
        }
    }
}
