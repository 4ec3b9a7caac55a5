//! `update`: changes the given parts of a source and leaves the rest, a pause included.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Map, Value};

use super::{save, show, starting};
use crate::arguments::UpdateArguments;
use crate::client::Client;
use crate::exit::Exit;
use crate::output;
use crate::package;
use crate::prop::{self, Given};
use crate::session::Session;
use crate::source::{self, text};
use crate::usage_error::UsageError;

type Changes = Map<String, Value>;

pub(super) async fn run(session: &Session, arguments: UpdateArguments) -> Result<Exit> {
    let client = &session.client;
    let given = Given::read(&arguments.props)?;
    let is_marked = arguments.refresh_deps || arguments.isolated.is_some();
    let is_given = !given.is_empty() || is_marked;
    if arguments.component.is_none() && arguments.name.is_none() && !is_given {
        return Err(UsageError(
            "nothing to update: give new code, --name, --prop, --props-file, --isolated or --refresh-deps"
                .to_owned(),
        )
        .into());
    }
    let source = source::find(client, &arguments.source).await?;
    let updated = match &arguments.component {
        Some(reference) => {
            let component = save::save(client, reference).await?;
            let updated = async {
                if !arguments.anyway {
                    starting::refuse_never(client, &component, Some(&source), reference).await?;
                }
                let changes = new_code(client, &source, &component, given).await?;
                send(client, Method::PUT, &source, changes, &arguments).await
            };
            save::unless_refused(client, &component, updated.await).await?
        }
        None => {
            let changes = new_props(client, &source, given).await?;
            send(client, Method::PATCH, &source, changes, &arguments).await?
        }
    };
    session.print(&updated, show::brief)?;
    show::warnings(&updated);
    if arguments.refresh_deps {
        print_package_changes(client, &source, &updated).await?;
    }
    Ok(Exit::Success)
}

/// Asks the node for the changes, and those that options name: the source as it is then.
async fn send(
    client: &Client,
    method: Method,
    source: &Value,
    mut changes: Changes,
    arguments: &UpdateArguments,
) -> Result<Value> {
    if let Some(name) = &arguments.name {
        changes.insert("name".to_owned(), name.as_str().into());
    }
    if let Some(isolated) = arguments.isolated {
        changes.insert("isolated".to_owned(), isolated.into());
    }
    if arguments.refresh_deps {
        changes.insert("refresh_deps".to_owned(), true.into());
    }
    let path = ["sources", text(source, "id")];
    let updated = client.send(method, &path, &Value::Object(changes)).await;
    let file = arguments.component.as_deref().and_then(save::file_of);
    updated.map_err(|error| save::in_terms_of(error, file.as_deref()))
}

/// Prints the packages that have changed.
async fn print_package_changes(client: &Client, before: &Value, after: &Value) -> Result<()> {
    let [before, after] =
        [before, after].map(|source| ["components", text(source, "component_id")]);
    let (before, after) = (client.get(&before).await?, client.get(&after).await?);
    let moves = package::moves(&before, &after);
    if moves.is_empty() {
        output::tell("all packages already have their latest allowed versions");
    }
    moves.iter().for_each(|line| output::tell(line));
    Ok(())
}

async fn new_code(
    client: &Client,
    source: &Value,
    component: &Value,
    given: Given,
) -> Result<Changes> {
    let mut changes = props(client, source, component, given).await?;
    changes.insert("component_id".to_owned(), component["id"].clone());
    // A PUT that leaves it out would activate a paused source.
    let active = source["active"].as_bool().unwrap_or(true);
    changes.insert("active".to_owned(), active.into());
    Ok(changes)
}

async fn new_props(client: &Client, source: &Value, given: Given) -> Result<Changes> {
    // A new name alone concerns no prop.
    if given.is_empty() {
        return Ok(Changes::new());
    }
    let path = ["components", text(source, "component_id")];
    let component = client.get(&path).await?;
    props(client, source, &component, given).await
}

async fn props(
    client: &Client,
    source: &Value,
    component: &Value,
    given: Given,
) -> Result<Changes> {
    let props = prop::collect(client, component, given, Some(source)).await?;
    let mut changes = Changes::new();
    if !props.is_empty() {
        changes.insert("configured_props".to_owned(), Value::Object(props));
    }
    Ok(changes)
}
