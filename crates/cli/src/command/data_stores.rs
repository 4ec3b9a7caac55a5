//! `data-stores`: lists, shows and deletes the key-value stores that components share by name, and reads and writes
//! their records.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use crate::arguments::{DataStoresArguments, DataStoresCommand};
use crate::at_file;
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;

/// Characters of a value that a table shows.
const SHOWN_CHARS: usize = 80;

pub(super) async fn run(session: &Session, arguments: DataStoresArguments) -> Result<Exit> {
    match arguments.command {
        DataStoresCommand::List => list(session).await?,
        DataStoresCommand::Show { name, prefix } => show(session, &name, prefix).await?,
        DataStoresCommand::Users { name } => list_users(session, &name).await?,
        DataStoresCommand::Get { name, key } => get(session, &name, key).await?,
        DataStoresCommand::Set {
            name,
            key,
            value,
            ttl,
        } => {
            let value = at_file::read_json(&value, "VALUE", "the value")?;
            let record = json!({"key": key, "value": value, "ttl": ttl});
            set(session, &name, record).await?;
        }
        DataStoresCommand::Delete {
            name,
            key: None,
            confirmed,
        } => delete(session, &name, confirmed.yes).await?,
        DataStoresCommand::Delete {
            name,
            key: Some(key),
            confirmed,
        } => delete_record(session, &name, &key, confirmed.yes).await?,
    }
    Ok(Exit::Success)
}

async fn list(session: &Session) -> Result<()> {
    let stores = session.client.list_scoped(&["data_stores"]).await?;
    if stores.is_empty() && !session.json {
        output::tell(
            "no data stores yet; a component with a `data_store` prop creates one when it writes to it",
        );
        return Ok(());
    }
    let rows = stores.iter().map(|store| {
        vec![
            text(store, "name").to_owned(),
            store["records"].to_string(),
            store["bytes"].to_string(),
            timestamp::listed_millis(&store["updated_at_ms"]),
        ]
    });
    let listing = table::listing(&["name", "records", "bytes", "written"], rows.collect());
    session.print(&Value::from(stores), |_| listing)
}

async fn show(session: &Session, name: &str, prefix: Option<String>) -> Result<()> {
    let path = ["data_stores", name, "records"];
    let mut query = session.client.scope().await?;
    query.extend(prefix.map(|prefix| ("prefix", prefix)));
    let records = session.client.first(&path, usize::MAX, &query).await?.data;
    let rows = records.iter().map(|record| {
        vec![
            text(record, "key").to_owned(),
            shortened(&record["value"]),
            match record["expires_at_ms"].is_null() {
                true => "never".to_owned(),
                false => timestamp::listed_millis(&record["expires_at_ms"]),
            },
        ]
    });
    let listing = table::listing(&["key", "value", "expires"], rows.collect());
    session.print(&Value::from(records), |_| listing)
}

fn shortened(value: &Value) -> String {
    let shown = value.to_string();
    match shown.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

async fn get(session: &Session, name: &str, key: String) -> Result<()> {
    let mut query = session.client.scope().await?;
    query.push(("key", key));
    let path = ["data_stores", name, "record"];
    let record = session.client.get_data(&path, &query).await?;
    session.print(&record, |record| format!("{:#}", record["value"]))
}

async fn set(session: &Session, name: &str, record: Value) -> Result<()> {
    let path = ["data_stores", name, "record"];
    let client = &session.client;
    let written = client.send_scoped(Method::PUT, &path, record).await?;
    session.print(&written, |record| text(record, "key").to_owned())?;
    output::tell("written");
    Ok(())
}

async fn delete_record(session: &Session, name: &str, key: &str, yes: bool) -> Result<()> {
    confirm::deletion(&format!("Delete record {key} of data store {name}?"), yes)?;
    let path = ["data_stores", name, "record"];
    let record = json!({"key": key});
    let client = &session.client;
    client.send_scoped(Method::DELETE, &path, record).await?;
    session.print(&json!({"name": name, "key": key}), |_| key.to_owned())?;
    output::tell("deleted");
    Ok(())
}

/// The sources and workflows that use a data store, with a note if not all were looked at.
async fn users(session: &Session, name: &str) -> Result<Vec<Value>> {
    let path = ["data_stores", name, "users"];
    let scope = session.client.scope().await?;
    let page = session.client.first(&path, usize::MAX, &scope).await?;
    if page.page_info.is_partial {
        output::note("the first 1,000 workflows were looked at; others may use it");
    }
    Ok(page.data)
}

async fn list_users(session: &Session, name: &str) -> Result<()> {
    let users = users(session, name).await?;
    if users.is_empty() && !session.json {
        output::tell("no source and no workflow names it in its props");
        return Ok(());
    }
    let rows = users.iter().map(|user| {
        let id = ["source_id", "workflow_id"].map(|field| text(user, field));
        vec![id.concat(), text(user, "name").to_owned(), props(user)]
    });
    let listing = table::listing(&["id", "name", "props"], rows.collect());
    session.print(&Value::from(users), |_| listing)
}

/// The props of something that uses a thing.
pub(super) fn props(user: &Value) -> String {
    let props = user["props"].as_array().into_iter().flatten();
    let props: Vec<_> = props.filter_map(Value::as_str).collect();
    props.join(", ")
}

/// The question whether to delete a data store, with the names of what uses it.
fn question(name: &str, users: &[Value]) -> String {
    let names: Vec<_> = users.iter().map(|user| text(user, "name")).collect();
    let uses = match &*names {
        [] => String::new(),
        [only] => format!(" {only} uses it and begins with an empty one."),
        _ => format!(" {} use it and begin with an empty one.", names.join(", ")),
    };
    format!("Delete data store {name} with all its records?{uses}")
}

async fn delete(session: &Session, name: &str, yes: bool) -> Result<()> {
    let users = match yes {
        true => Vec::new(),
        false => users(session, name).await?,
    };
    confirm::deletion(&question(name, &users), yes)?;
    let path = ["data_stores", name];
    session.client.delete_scoped(&path).await?;
    session.print(&json!({"name": name}), |_| name.to_owned())?;
    output::tell("deleted");
    Ok(())
}
