//! `run`: invokes a source once and shows what came of it. A component that throws is a failure of
//! this command: what it logged and its stack go to standard error.

use std::io::Read as _;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::logs;
use crate::arguments::RunArguments;
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::session::Session;
use crate::source::{self, text};
use crate::table;

pub(super) async fn run(session: &Session, arguments: &RunArguments) -> Result<Exit> {
    let body = match &arguments.event {
        Some(event) => json!({"event": read_event(event)?}),
        None => json!({}),
    };
    let id = source::find_id(&session.client, &arguments.source).await?;
    let invocation = session.client.post(&["sources", &id, "run"], &body).await?;
    if !session.json {
        for log in invocation["logs"].as_array().into_iter().flatten() {
            output::note(&logs::entry(log));
        }
    }
    session.print(&invocation, show)?;
    let outcome = &invocation["outcome"];
    if text(outcome, "status") == "returned" {
        return Ok(Exit::Success);
    }
    output::note(&failure(outcome));
    Ok(Exit::Failure)
}

fn read_event(event: &str) -> Result<Value> {
    let text = match event.strip_prefix('@') {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read the event from standard input")?;
            text
        }
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the event in {path}"))?,
        None => event.to_owned(),
    };
    let parsed = serde_json::from_str(&text);
    Ok(parsed.map_err(|error| UsageError(format!("--event is not JSON: {error}")))?)
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

fn failure(outcome: &Value) -> String {
    let error = &outcome["error"];
    match text(outcome, "status") {
        "limit_exceeded" => format!("error: the run exceeded its limit: {}", outcome["limit"]),
        "lost" => "error: the worker process was lost; run it again".to_owned(),
        // A stack starts with the name and the message.
        _ if !text(error, "stack").is_empty() => format!("error: {}", text(error, "stack")),
        _ => format!("error: {}: {}", text(error, "name"), text(error, "message")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_json_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("event.json");
        std::fs::write(&path, "{\"a\": 1}").unwrap();
        let reference = format!("@{}", path.display());
        assert_eq!(read_event(&reference).unwrap(), json!({"a": 1}));
        assert_eq!(read_event("[1]").unwrap(), json!([1]));
        assert!(read_event("{").unwrap_err().is::<UsageError>());
    }

    #[test]
    fn every_bad_outcome_says_what_happened() {
        let threw = json!({"status": "threw", "error": {"name": "E", "message": "m"}});
        assert_eq!(failure(&threw), "error: E: m");
        let limit = json!({"status": "limit_exceeded", "limit": "memory"});
        assert!(failure(&limit).contains("memory"));
        assert!(failure(&json!({"status": "lost"})).contains("lost"));
    }
}
