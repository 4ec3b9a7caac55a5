//! `accounts`: stores, lists and deletes the accounts of third-party apps. Credentials go to the
//! node and are shown to nobody again.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::account;
use crate::arguments::{AccountsArguments, AccountsCommand, AddAccountArguments};
use crate::exit::Exit;
use crate::output;
use crate::secret;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;

pub(super) async fn run(session: &Session, arguments: AccountsArguments) -> Result<Exit> {
    match arguments.command {
        AccountsCommand::Add(arguments) => add(session, arguments).await?,
        AccountsCommand::List => list(session).await?,
        AccountsCommand::Delete { account } => delete(session, &account).await?,
    }
    Ok(Exit::Success)
}

async fn add(session: &Session, arguments: AddAccountArguments) -> Result<()> {
    let fields = arguments.fields.iter().map(|field| read_field(field));
    let fields: Map<_, _> = fields.collect::<Result<_>>()?;
    let mut body = json!({"app": arguments.app, "fields": fields});
    if let Some(name) = arguments.name {
        body["name"] = name.into();
    }
    let account = session.client.post_scoped(&["accounts"], body).await?;
    session.print(&account, |account| listing(std::slice::from_ref(account)))
}

/// `KEY=VALUE`, or `KEY` alone to be asked for the value: it then stays out of the shell's history.
fn read_field(field: &str) -> Result<(String, Value)> {
    if let Some((key, value)) = field.split_once('=') {
        return Ok((key.to_owned(), value.into()));
    }
    let otherwise = format!("--field {field} has no value; write --field {field}=VALUE");
    Ok((field.to_owned(), secret::ask(field, &otherwise)?.into()))
}

async fn list(session: &Session) -> Result<()> {
    let accounts = account::list(&session.client).await?;
    if accounts.is_empty() && !session.json {
        output::note(
            "no accounts yet; add one with `headwater accounts add APP --field KEY=VALUE`",
        );
        return Ok(());
    }
    session.print(&Value::from(accounts.clone()), |_| listing(&accounts))
}

async fn delete(session: &Session, id_or_name: &str) -> Result<()> {
    let id = account::find_id(&session.client, id_or_name, None).await?;
    session.client.delete(&["accounts", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    output::note("deleted");
    Ok(())
}

fn listing(accounts: &[Value]) -> String {
    let rows = accounts.iter().map(|account| {
        vec![
            text(account, "id").to_owned(),
            text(account, "app").to_owned(),
            text(account, "name").to_owned(),
            timestamp::from_seconds(&account["created_at"]),
        ]
    });
    table::listing(&["id", "app", "name", "created"], rows.collect())
}
