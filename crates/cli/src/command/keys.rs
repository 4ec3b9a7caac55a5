//! `keys`: makes, lists and revokes API keys, and rotates the node's secret key. An API key is printed when it is made
//! and never again; the secret key never.

use anyhow::Result;
use serde_json::{Value, json};

use crate::arguments::{KeysArguments, KeysCommand};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::tenant;
use crate::timestamp;

pub(super) async fn run(session: &Session, arguments: KeysArguments) -> Result<Exit> {
    match arguments.command {
        KeysCommand::Create { name, user } => create(session, &name, user.as_deref()).await?,
        KeysCommand::List { user } => list(session, user.as_deref()).await?,
        KeysCommand::Revoke { key } => revoke(session, &key).await?,
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
    output::note(&format!(
        "made key {} ({name}); it is shown only now",
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

async fn revoke(session: &Session, id_or_name: &str) -> Result<()> {
    let id = tenant::key_id(&session.client, id_or_name).await?;
    session.client.delete(&["keys", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    output::note("revoked");
    Ok(())
}

async fn rotate_secret(session: &Session) -> Result<()> {
    let body = json!({});
    let done = session
        .client
        .post(&["secret_key", "rotate"], &body)
        .await?;
    session.print(&done, |done| done["resealed"].to_string())?;
    output::note("sealed accounts, webhooks and secret props with a new key; back its file up");
    if done["unreadable"] != 0 {
        output::note(&format!(
            "the secrets of {} could not be opened with any key; the log names them, make them anew",
            done["unreadable"]
        ));
    }
    Ok(())
}

fn listing(keys: &[Value]) -> String {
    let rows = keys.iter().map(|key| {
        let last_used = match &key["last_used_at"] {
            Value::Null => "never".to_owned(),
            at => timestamp::from_seconds(at),
        };
        vec![
            text(key, "id").to_owned(),
            text(key, "name").to_owned(),
            timestamp::from_seconds(&key["created_at"]),
            last_used,
        ]
    });
    table::listing(&["id", "name", "created", "last used"], rows.collect())
}
