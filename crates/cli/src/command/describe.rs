//! `describe`: one source or one saved component, in full.

use anyhow::{Result, bail};
use serde_json::Value;

use super::show;
use crate::arguments::DescribeArguments;
use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::package;
use crate::prop::{self, PropDefinition};
use crate::session::Session;
use crate::shell;
use crate::source::{self, text};
use crate::table;
use crate::timestamp;
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: &DescribeArguments) -> Result<Exit> {
    match find(session, &arguments.subject).await? {
        Subject::Source(source) => {
            let path = ["components", text(&source, "component_id")];
            // The component may be another's, who has let this user have the source only.
            let component = match session.json {
                true => Value::Null,
                false => session.client.get(&path).await.unwrap_or_default(),
            };
            session.print(&source, |source| describe_source(source, &component))?;
        }
        Subject::Component(component) => session.print(&component, describe_component)?,
    }
    Ok(Exit::Success)
}

enum Subject {
    Source(Value),
    Component(Value),
}

/// An id shows its kind; any other text is tried as a source's name first, then as a component's key.
async fn find(session: &Session, subject: &str) -> Result<Subject> {
    let client = &session.client;
    if let Some((kind, command)) = described_elsewhere(subject) {
        return Err(UsageError(format!(
            "{subject} is {kind}; `headwater {command} {subject}` shows it"
        ))
        .into());
    }
    if subject.starts_with("dc_") {
        return with_health(client, subject).await.map(Subject::Source);
    }
    if !subject.starts_with("sc_")
        && let Some(source) = source::find_by_name(client, subject).await?
    {
        let source = with_health(client, text(&source, "id")).await?;
        return Ok(Subject::Source(source));
    }
    let scope = client.scope().await?;
    let component = client.get_data(&["components", subject], &scope).await;
    let error = match component {
        Ok(component) => return Ok(Subject::Component(component)),
        Err(error) => error,
    };
    let refused = error.downcast_ref::<ClientError>();
    if !refused.is_some_and(ClientError::is_not_found) {
        return Err(error);
    }
    if source::is_workflow(client, subject).await {
        return Err(UsageError(format!(
            "{subject} is a workflow; `headwater workflows describe {}` shows it",
            shell::quoted(subject)
        ))
        .into());
    }
    bail!(
        "no source or component is called {subject}; `headwater list` shows the sources, `headwater list \
         components` the components, and `headwater search WORDS` those of npm packages"
    )
}

/// The kind of an id that another command shows, and the command.
fn described_elsewhere(id: &str) -> Option<(&'static str, &'static str)> {
    let (prefix, _) = id.split_once('_')?;
    Some(match prefix {
        "inv" => ("a run", "runs describe"),
        "dlv" => ("a delivery", "deliveries describe"),
        "wh" => ("a webhook", "webhooks describe"),
        "p" => ("a workflow", "workflows describe"),
        _ => return None,
    })
}

async fn with_health(client: &Client, id: &str) -> Result<Value> {
    let query = [("expand", "health".to_owned())];
    client.get_data(&["sources", id], &query).await
}

fn describe_source(source: &Value, component: &Value) -> String {
    let mut rows = show::rows(source);
    rows.extend(show::Health::of(source).rows());
    rows.push((
        "component".to_owned(),
        text(source, "component_id").to_owned(),
    ));
    rows.extend(times(source));
    let props = source.get("configured_props").and_then(Value::as_object);
    let props = props.into_iter().flatten();
    let props: Vec<_> = props
        .map(|(name, value)| [name.clone(), value.to_string()])
        .collect();
    let card = table::card(rows);
    let card = match props.is_empty() {
        true => card,
        false => format!("{card}\n\n{}", table::pairs(["prop", "value"], props)),
    };
    with_packages(card, component)
}

fn describe_component(component: &Value) -> String {
    let fields = ["id", "key", "name", "version", "type", "code_hash"];
    let mut rows: Vec<_> = fields
        .iter()
        .map(|field| ((*field).to_owned(), text(component, field).to_owned()))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    rows.extend(times(component));
    // A node of another version may know props that this program cannot read; the rest is worth showing.
    let props = prop::definitions(component).unwrap_or_default();
    let props = props.iter().map(PropDefinition::row).collect();
    let headers = ["prop", "type", "required", "label"];
    with_packages(with_table(table::card(rows), &headers, props), component)
}

fn times(object: &Value) -> Vec<(String, String)> {
    ["created", "updated"]
        .map(|event| {
            let seconds = &object[format!("{event}_at").as_str()];
            (event.to_owned(), timestamp::from_seconds(seconds))
        })
        .into()
}

fn with_packages(card: String, component: &Value) -> String {
    let (rows, further) = package::rows(component);
    let shown = with_table(card, &["package", "range", "version"], rows);
    match further {
        0 => shown,
        _ => format!("{shown}\n\nand {further} packages that these need"),
    }
}

fn with_table(card: String, headers: &[&str], rows: Vec<Vec<String>>) -> String {
    match rows.is_empty() {
        true => card,
        false => format!("{card}\n\n{}", table::part(headers, rows)),
    }
}
