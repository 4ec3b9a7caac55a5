//! `keys`: creates, lists and revokes API keys, and rotates the node's secret key. An API key is
//! printed when it is created and never again; the secret key never.

use std::io::IsTerminal as _;

use anyhow::{Result, bail};
use inquire::Confirm;
use serde_json::{Value, json};

use crate::arguments::{KeysArguments, KeysCommand};
use crate::client::Client;
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::serve;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::tenant;
use crate::timestamp;

/// The answer to a person who does not agree.
const NOTHING: &str = "nothing was revoked";

pub(super) async fn run(session: &Session, arguments: KeysArguments) -> Result<Exit> {
    match arguments.command {
        KeysCommand::Create { name, user } => create(session, &name, user.as_deref()).await?,
        KeysCommand::List { user } => list(session, user.as_deref()).await?,
        KeysCommand::Revoke { key, yes } => revoke(session, &key, yes).await?,
        KeysCommand::Reset { .. } => bail!("`keys reset` is for a node that is stopped"),
        KeysCommand::RotateSecret => rotate_secret(session).await?,
    }
    Ok(Exit::Success)
}

async fn create(session: &Session, name: &str, user: Option<&str>) -> Result<()> {
    let mut body = json!({"name": name});
    if let Some(user) = user {
        body["user_id"] = tenant::user_id(&session.client, user).await?.into();
    }
    let key = session.client.post(&["keys"], &body).await?;
    session.print(&key, |key| text(key, "key").to_owned())?;
    output::tell(&format!(
        "created key {} ({name}); save it now, it is not shown again",
        text(&key, "id")
    ));
    Ok(())
}

async fn list(session: &Session, user: Option<&str>) -> Result<()> {
    let keys = match user {
        None => session.client.list(&["keys"]).await?,
        Some(user) => {
            let id = tenant::user_id(&session.client, user).await?;
            let query = [("user_id", id)];
            session
                .client
                .first(&["keys"], usize::MAX, &query)
                .await?
                .data
        }
    };
    session.print(&Value::from(keys.clone()), |_| listing(&keys))
}

/// Revokes a key, but locks nobody out: if it is the key that the command itself uses, it is replaced first, or
/// whoever gave it is asked.
async fn revoke(session: &Session, id_or_name: &str, yes: bool) -> Result<()> {
    let keys = session.client.list(&["keys"]).await?;
    let id = tenant::key_id_among(&keys, id_or_name)?;
    let key = keys.iter().find(|key| text(key, "id") == id);
    let current = key.filter(|key| key["is_current"] == true);
    if current.is_some() && session.key_given {
        if !yes {
            confirm_current()?;
        }
    } else {
        let name = key.map_or(id_or_name, |key| text(key, "name"));
        let question = format!("Revoke key {name}? It stops working immediately.");
        confirm::asked(&question, yes, NOTHING)?;
    }
    let client = match current {
        Some(key) if !session.key_given => Some(replace(session, key).await?),
        _ => None,
    };
    let client = client.as_ref().unwrap_or(&session.client);
    client.delete(&["keys", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    output::tell("revoked");
    Ok(())
}

/// Makes another key of the same name and keeps it where the node's commands find it.
async fn replace(session: &Session, key: &Value) -> Result<Client> {
    let body = json!({"name": text(key, "name")});
    let new = session.client.post(&["keys"], &body).await?;
    let file = serve::keep_api_key(&session.data_dir, text(&new, "key"))?;
    output::tell(&format!(
        "{} held this key; it now holds the new key {}",
        file.display(),
        text(&new, "id")
    ));
    session.client.with_key(text(&new, "key"))
}

/// Asks whether the key in use is to be revoked.
fn confirm_current() -> Result<()> {
    const NEXT: &str =
        "create another key first (`headwater keys create NAME`) and use that one, or give --yes";
    if !std::io::stdin().is_terminal() {
        bail!("this command itself uses this key; {NEXT}");
    }
    let asked = Confirm::new("This command itself uses this key. Revoke it anyway?");
    match asked.with_default(false).prompt()? {
        true => Ok(()),
        false => bail!("{NOTHING}; {NEXT}"),
    }
}

async fn rotate_secret(session: &Session) -> Result<()> {
    let body = json!({});
    let done = session
        .client
        .post(&["secret_key", "rotate"], &body)
        .await?;
    session.print(&done, |done| done["resealed"].to_string())?;
    output::tell(
        "encrypted accounts, webhooks and secret props with a new key; back up the file secret-key in the node's data folder",
    );
    if done["unreadable"] != 0 {
        output::tell(&format!(
            "the secrets of {} accounts, webhooks or sources cannot be decrypted with any key; the log \
             names them; enter them again",
            done["unreadable"]
        ));
    }
    Ok(())
}

fn listing(keys: &[Value]) -> table::Listing {
    let rows = keys.iter().map(|key| {
        let last_used = match key["last_used_at"].is_null() {
            true => "never".to_owned(),
            false => timestamp::listed_seconds(&key["last_used_at"]),
        };
        vec![
            text(key, "id").to_owned(),
            text(key, "name").to_owned(),
            timestamp::listed_seconds(&key["created_at"]),
            last_used,
        ]
    });
    table::listing(&["id", "name", "created", "last used"], rows.collect())
}
