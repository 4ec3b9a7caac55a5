//! `run`: runs a source once and shows the result. A component that throws is a failure of this
//! command: its logs and its stack go to standard error.

use anyhow::Result;
use serde_json::{Value, json};

use super::{dev, outcome};
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
    let file = dev::file_of(&id);
    outcome::print_logs(session, &invocation, file.as_deref());
    session.print(&invocation, show)?;
    Ok(outcome::report(&invocation["outcome"], file.as_deref()))
}

fn show(invocation: &Value) -> String {
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
