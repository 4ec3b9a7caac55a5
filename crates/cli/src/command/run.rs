//! `run`: runs a source once and shows the result. A component that throws is a failure of this
//! command: its logs and its stack go to standard error.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::{dev, outcome, save};
use crate::arguments::RunArguments;
use crate::at_file;
use crate::exit::Exit;
use crate::session::Session;
use crate::source::{self, text};
use crate::table;

pub(super) async fn run(session: &Session, arguments: &RunArguments) -> Result<Exit> {
    let body = match &arguments.event {
        Some(event) => json!({"event": at_file::read_json(event, "--event", "the event")?}),
        None => json!({}),
    };
    let id = source::find_id(&session.client, &arguments.source).await?;
    let invocation = session.client.post(&["sources", &id, "run"], &body).await?;
    let file = match text(&invocation["outcome"], "status") {
        "returned" => dev::file_of(&id),
        _ => file_of(session, &id).await,
    };
    outcome::print_logs(session, &invocation, file.as_deref());
    session.print(&invocation, show)?;
    Ok(outcome::report(&invocation["outcome"], file.as_deref()))
}

/// The file of a source's code, whose lines a stack names: the one that `dev` deployed, or one here that has the code.
pub(super) async fn file_of(session: &Session, id: &str) -> Option<PathBuf> {
    if let Some(file) = dev::file_of(id) {
        return Some(file);
    }
    let source = session.client.get(&["sources", id]).await.ok()?;
    save::file_of_component(&session.client, text(&source, "component_id")).await
}

/// The invocation, its outcome and the number of its events.
pub(super) fn show(invocation: &Value) -> String {
    let outcome = &invocation["outcome"];
    let mut rows = vec![
        (
            "invocation".to_owned(),
            text(invocation, "invocation_id").to_owned(),
        ),
        ("outcome".to_owned(), text(outcome, "status").to_owned()),
        ("events".to_owned(), invocation["events"].to_string()),
    ];
    if let Some(value) = outcome.get("value").filter(|value| !value.is_null()) {
        rows.push(("value".to_owned(), value.to_string()));
    }
    table::card(rows)
}
