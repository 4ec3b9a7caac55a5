//! `variables`: sets, lists and deletes the variables that steps read. Their values come back from no node.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use crate::arguments::{VariablesArguments, VariablesCommand};
use crate::at_file;
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::secret;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;

pub(super) async fn run(session: &Session, arguments: VariablesArguments) -> Result<Exit> {
    match arguments.command {
        VariablesCommand::Set { name, value } => set(session, &name, value.as_deref()).await?,
        VariablesCommand::List => list(session).await?,
        VariablesCommand::Delete { name, confirmed } => {
            delete(session, &name, confirmed.yes).await?;
        }
    }
    Ok(Exit::Success)
}

async fn set(session: &Session, name: &str, value: Option<&str>) -> Result<()> {
    let (name, given) = parts(name, value);
    let value = match given {
        Some(given) => at_file::read(given, &format!("the value of {name}"))?,
        None => secret::ask(
            name,
            "the variable has no value; give one behind its name, or @- to read it from standard input",
        )?,
    };
    let path = ["variables", name];
    let body = json!({"value": value});
    let client = &session.client;
    client.send_scoped(Method::PUT, &path, body).await?;
    session.print(&json!({"name": name}), |_| name.to_owned())?;
    output::tell("set; steps that begin from now on see it");
    Ok(())
}

/// Name and value, which may be one argument: names have no `=`.
fn parts<'a>(name: &'a str, value: Option<&'a str>) -> (&'a str, Option<&'a str>) {
    match (value, name.split_once('=')) {
        (None, Some((name, value))) => (name, Some(value)),
        _ => (name, value),
    }
}

async fn list(session: &Session) -> Result<()> {
    let variables = session.client.list_scoped(&["variables"]).await?;
    if variables.is_empty() && !session.json {
        output::tell("no variables yet; set one with `headwater variables set NAME`");
        return Ok(());
    }
    let rows = variables.iter().map(|variable| {
        vec![
            text(variable, "name").to_owned(),
            timestamp::listed_seconds(&variable["updated_at"]),
        ]
    });
    let listing = table::listing(&["name", "set"], rows.collect());
    session.print(&Value::from(variables), |_| listing)
}

async fn delete(session: &Session, name: &str, yes: bool) -> Result<()> {
    let question = format!("Delete variable {name}? Nothing shows its value again.");
    confirm::deletion(&question, yes)?;
    let path = ["variables", name];
    session.client.delete_scoped(&path).await?;
    session.print(&json!({"name": name}), |_| name.to_owned())?;
    output::tell("deleted");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_value_may_be_one_argument() {
        assert_eq!(parts("A", None), ("A", None));
        assert_eq!(parts("A", Some("x=y")), ("A", Some("x=y")));
        assert_eq!(parts("A=x=y", None), ("A", Some("x=y")));
        assert_eq!(parts("A=", None), ("A", Some("")));
    }
}
